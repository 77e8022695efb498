/* One 64-bit hash for identity (sites, units, builds), one open-addressing table
 * from 64-bit keys to 64-bit values, and a set of keys. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

/* Continues `state` over `size` bytes; start with HASH_START. The result is part
 * of file formats: it must never change. */
uint64_t hash_bytes(uint64_t state, const void *bytes, size_t size);
uint64_t hash_string(uint64_t state, const char *string); /* with its NUL */

struct map {
	struct map_slot {
		uint64_t key, value;
		bool used;
	} *slots;
	size_t n, room; /* room is 0 or a power of two */
};

/* The value's place for `key`, NULL when absent. Valid until the next map_put. */
uint64_t *map_get(const struct map *map, uint64_t key);
/* The value's place for `key`, made with value 0 when absent (*fresh says so; may be NULL). */
uint64_t *map_put(struct map *map, uint64_t key, bool *fresh);
/* Room for so many keys in all, so that they come without the table growing. */
void map_reserve(struct map *map, size_t n);
void map_free(struct map *map);

/* Keys alone, 8 bytes each, for sets that are asked for hundreds of keys at a time. */
struct set {
	uint64_t *slots; /* 0 = free */
	size_t n, room;  /* n without key 0; room is 0 or a power of two */
	bool has_zero;
};

/* Adds all of the keys; how many of them were not there. */
size_t set_add(struct set *set, const uint64_t *keys, size_t n);
void set_free(struct set *set);

#endif
