/* Open addressing with linear probing, at most half full. A slot names a number and
 * the key is compared where it stands in order of numbers: most keys that are new
 * find a free slot at once and touch nothing else.
 */
#include "base/numbers.h"

#include <stdlib.h>

#include "base/memory.h"

#define LEAST_ROOM 32u
/* Odd, with about half of the bits set and no regular pattern. */
#define FACTOR_FIRST 0x9fb21c651e98df25u
#define FACTOR_LAST 0xd6e8feb86659fd93u

/* Keys may differ in a few high bits only. */
static uint64_t mix(uint64_t key)
{
	key = (key ^ key >> 32) * FACTOR_FIRST;
	key = (key ^ key >> 29) * FACTOR_LAST;
	return key ^ key >> 32;
}

/* The slot that names the key, or the free one where it belongs. */
static uint32_t *slot_of(const struct numbers *numbers, uint64_t key)
{
	size_t last = 2 * numbers->room - 1, at = mix(key) & last;

	while (numbers->slots[at] && numbers->keys[numbers->slots[at] - 1] != key)
		at = (at + 1) & last;
	return &numbers->slots[at];
}

void numbers_reserve(struct numbers *numbers, size_t n)
{
	size_t room = numbers->room ? numbers->room : LEAST_ROOM;

	while (room < n)
		room *= 2;
	if (room == numbers->room)
		return;
	numbers->room = room;
	numbers->keys = memory_resize(numbers->keys, room * sizeof *numbers->keys);
	free(numbers->slots);
	numbers->slots = memory_alloc(2 * room * sizeof *numbers->slots);
	for (size_t i = 0; i < numbers->n; i++)
		*slot_of(numbers, numbers->keys[i]) = (uint32_t)i + 1;
}

uint32_t numbers_put(struct numbers *numbers, uint64_t key)
{
	if (numbers->n == numbers->room)
		numbers_reserve(numbers, numbers->n + 1);
	uint32_t *slot = slot_of(numbers, key);

	if (!*slot) {
		numbers->keys[numbers->n++] = key;
		*slot = (uint32_t)numbers->n;
	}
	return *slot - 1;
}

uint32_t numbers_find(const struct numbers *numbers, uint64_t key)
{
	return numbers->room ? *slot_of(numbers, key) - 1 : NUMBERS_NONE;
}

void numbers_free(struct numbers *numbers)
{
	free(numbers->keys);
	free(numbers->slots);
	*numbers = (struct numbers){ 0 };
}
