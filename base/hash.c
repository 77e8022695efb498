/* The hash of identities and the table that is keyed by it. The hash takes the
 * input as little-endian 64-bit words, mixes each by a multiplication off the
 * critical path, folds it into the state with rotate and multiply, pads the
 * tail with zeroes and ends with the length and a full avalanche. It is not
 * meant to withstand an adversary. hash(hash(s, a), b) differs from hash(s, ab).
 */
#include "base/hash.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Odd, with about half of the bits set and no regular pattern. */
#define FACTOR_WORD 0x9fb21c651e98df25u
#define FACTOR_STATE 0xd6e8feb86659fd93u
#define FACTOR_SLOT 0x9e3779b97f4a7c15u

static uint64_t fold(uint64_t state, uint64_t word)
{
	/* The word's own mixing keeps a flipped top bit here from cancelling one
	 * flipped bit of the next word. */
	word *= FACTOR_WORD;
	word ^= word >> 31;
	state = (state ^ word) * FACTOR_STATE;
	return state << 29 | state >> 35;
}

static uint64_t load(const unsigned char *bytes, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, bytes, size);
	return le64toh(word);
}

uint64_t hash_bytes(uint64_t state, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	size_t left = size;

	for (; left >= 8; at += 8, left -= 8)
		state = fold(state, load(at, 8));
	if (left)
		state = fold(state, load(at, left));
	state = fold(state, size);
	state ^= state >> 32;
	state *= FACTOR_STATE;
	state ^= state >> 32;
	state *= FACTOR_WORD;
	return state ^ state >> 32;
}

uint64_t hash_string(uint64_t state, const char *string)
{
	return hash_bytes(state, string, strlen(string) + 1);
}

/* The slot that holds `key`, or the free one where it belongs. */
static struct map_slot *find(struct map_slot *slots, size_t room, uint64_t key)
{
	/* The multiplication spreads keys that are small numbers; its high half
	 * depends on all bits of the key. */
	size_t at = (size_t)((key * FACTOR_SLOT) >> 32) & (room - 1);

	while (slots[at].used && slots[at].key != key)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static void enlarge(struct map *map, size_t room)
{
	struct map_slot *slots = memory_alloc(room * sizeof *slots);

	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].used)
			*find(slots, room, map->slots[i].key) = map->slots[i];
	free(map->slots);
	map->slots = slots;
	map->room = room;
}

/* At most five eighths full: linear probing stays short. */
static bool is_full(size_t n, size_t room)
{
	return n * 8 >= room * 5;
}

void map_reserve(struct map *map, size_t n)
{
	size_t room = map->room ? map->room : 16;

	while (is_full(n, room))
		room *= 2;
	if (room > map->room)
		enlarge(map, room);
}

uint64_t *map_get(const struct map *map, uint64_t key)
{
	if (!map->room)
		return NULL;
	struct map_slot *slot = find(map->slots, map->room, key);

	return slot->used ? &slot->value : NULL;
}

uint64_t *map_put(struct map *map, uint64_t key, bool *fresh)
{
	if (is_full(map->n, map->room))
		enlarge(map, map->room ? map->room * 2 : 16);
	struct map_slot *slot = find(map->slots, map->room, key);

	if (fresh)
		*fresh = !slot->used;
	if (!slot->used) {
		*slot = (struct map_slot){ .key = key, .used = true };
		map->n++;
	}
	return &slot->value;
}

void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}

#define SET_AHEAD 8 /* keys whose slots are on their way to the cache */

static size_t slot_of(size_t room, uint64_t key)
{
	return (size_t)((key * FACTOR_SLOT) >> 32) & (room - 1);
}

static bool insert(uint64_t *slots, size_t room, uint64_t key)
{
	size_t at = slot_of(room, key);

	while (slots[at] && slots[at] != key)
		at = (at + 1) & (room - 1);
	bool fresh = !slots[at];

	slots[at] = key;
	return fresh;
}

/* Room for `more` keys with at most half of the slots in use. */
static void reserve(struct set *set, size_t more)
{
	size_t room = set->room ? set->room : 16;

	while ((set->n + more) * 2 > room)
		room *= 2;
	if (room == set->room)
		return;
	uint64_t *slots = memory_alloc(room * sizeof *slots);

	for (size_t i = 0; i < set->room; i++)
		if (set->slots[i])
			insert(slots, room, set->slots[i]);
	free(set->slots);
	set->slots = slots;
	set->room = room;
}

size_t set_add(struct set *set, const uint64_t *keys, size_t n)
{
	size_t before = set->n, zeros = 0;

	reserve(set, n);
	for (size_t i = 0; i < n; i++) {
		if (i + SET_AHEAD < n)
			__builtin_prefetch(&set->slots[slot_of(set->room, keys[i + SET_AHEAD])], 1);
		if (keys[i]) {
			set->n += insert(set->slots, set->room, keys[i]);
		} else {
			zeros += !set->has_zero;
			set->has_zero = true;
		}
	}
	return set->n - before + zeros;
}

void set_free(struct set *set)
{
	free(set->slots);
	*set = (struct set){ 0 };
}
