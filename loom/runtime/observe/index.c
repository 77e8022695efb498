/* Finds entries of append-only arrays by hash. Tables of growing size: entry number
 * n goes into the first table that is less than three quarters full by then, so a short
 * log touches little memory, nothing ever moves, and no lock is needed. A place holds the
 * entry's number and bits of its hash, so that hardly any other entry is looked at. */
#include "loom/runtime/observe/cells.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST_BITS 9u /* two tables in a page: few runs have more than 384 of anything */
#define LEVELS 14u    /* each twice the one before */

static uint32_t level_size(uint32_t level)
{
	return 1u << (FIRST_BITS + level);
}

/* Places in all tables before this one. */
static uint32_t level_start(uint32_t level)
{
	return level_size(level) - level_size(0);
}

/* A place: bits of the hash that do not tell the place, number of the entry + 1. */
#define NUMBER_BITS 23u
#define NUMBER(place) ((place) & ((1u << NUMBER_BITS) - 1))
#define TAG(hash) ((uint32_t)(hash) & ~((1u << NUMBER_BITS) - 1))
_Static_assert(AREA_EDGES < 1u << NUMBER_BITS && AREA_PREDECESSORS < 1u << NUMBER_BITS &&
		       AREA_PAIRS < 1u << NUMBER_BITS && AREA_COUPLES < 1u << NUMBER_BITS,
	       "places name all entries");
_Static_assert(FIRST_BITS + LEVELS - 1 <= NUMBER_BITS, "tags are no part of a place");

#define FIRST_BYTES (sizeof(uint32_t) << FIRST_BITS)

/* Most runs never leave the first table. */
void index_start(struct index *index)
{
	index->first = runtime_map_near(FIRST_BYTES);
	index->slots = runtime_map_far(sizeof(uint32_t) * level_start(LEVELS));
}

void index_start_far(struct index *index)
{
	index->first = runtime_map_far(FIRST_BYTES);
	index->slots = runtime_map_far(sizeof(uint32_t) * level_start(LEVELS));
}

void index_clear(struct index *index)
{
	memset(index->first, 0, FIRST_BYTES);
	madvise(index->slots, sizeof(uint32_t) * level_start(LEVELS), MADV_DONTNEED);
}

static uint32_t *level_slots(const struct index *index, uint32_t level)
{
	return level ? index->slots + level_start(level) : index->first;
}

/* Where entry `number` belongs. */
static uint32_t level_of(uint32_t number)
{
	uint32_t level = 31u - (uint32_t)__builtin_clz((number / 3 * 4 >> FIRST_BITS) + 1);
	return level < LEVELS ? level : LEVELS - 1;
}

struct probe index_probe(uint64_t hash, uint32_t count)
{
	uint32_t level = level_of(count);
	return (struct probe){ .hash = (uint32_t)hash,
			       .level = level,
			       .at = (uint32_t)hash & (level_size(level) - 1) };
}

/* The next candidate's number + 1; 0 when there is none. */
uint32_t index_next(const struct index *index, struct probe *probe)
{
	for (;;) {
		uint32_t *slots = level_slots(index, probe->level);
		uint32_t found = __atomic_load_n(&slots[probe->at], __ATOMIC_ACQUIRE); /* index_publish */
		probe->at = (probe->at + 1) & (level_size(probe->level) - 1);
		if (found && TAG(found) == TAG(probe->hash))
			return NUMBER(found);
		if (found)
			continue;
		if (probe->level == 0)
			return 0;
		probe->level--;
		probe->at = probe->hash & (level_size(probe->level) - 1);
	}
}

/* Makes a complete entry findable. Returns 0, or number + 1 of the next candidate that another
 * thread may have put there in the meantime; then the caller compares and comes again. */
uint32_t index_publish(const struct index *index, struct probe *probe, uint32_t number)
{
	uint32_t *slots = level_slots(index, probe->level);
	for (;;) {
		uint32_t found = 0;
		/* Release makes the entry's fields visible to whoever finds it. */
		if (__atomic_compare_exchange_n(&slots[probe->at], &found, TAG(probe->hash) | (number + 1),
						false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			return 0;
		probe->at = (probe->at + 1) & (level_size(probe->level) - 1);
		if (TAG(found) == TAG(probe->hash))
			return NUMBER(found);
	}
}
