/* Keys numbered from 0 in order of first occurrence: 8 bytes a key and a table of
 * 4-byte slots, a fraction of what a map takes, so that hundreds of thousands stay
 * near the caches. */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define NUMBERS_NONE UINT32_MAX

struct numbers {
	uint64_t *keys;  /* by number */
	uint32_t *slots; /* number + 1, 0 = free */
	size_t n, room;  /* room for keys, 0 or a power of two; there are twice as many slots */
};

/* Room for so many keys in all. */
void numbers_reserve(struct numbers *numbers, size_t n);
/* The key's number, the next one when it is new. */
uint32_t numbers_put(struct numbers *numbers, uint64_t key);
/* The key's number, NUMBERS_NONE when it has none. */
uint32_t numbers_find(const struct numbers *numbers, uint64_t key);
void numbers_free(struct numbers *numbers);

#endif
