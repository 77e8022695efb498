/* Blocks of readers for cells that several threads have read since the last
 * write. Blocks come from one never-unmapped array. */
#include "loom/runtime/runtime.h"

#define BLOCKS_LIMIT (1u << 28)

/* A cell that two threads changed at once may hold anything: block 0 is for that, and stays empty. */
struct readers *readers_at(uint32_t number)
{
	return (struct readers *)READERS_START + (number <= RELAXED_GET(runtime.next_readers) ? number : 0);
}

static uint16_t home_of(const struct cell *cell)
{
	return (uint16_t)((uint64_t)cell >> 4);
}

struct readers *readers_of(const struct cell *cell, uint32_t number)
{
	struct readers *readers = readers_at(number);
	return readers->home == home_of(cell) ? readers : readers_at(0);
}

void readers_start(void)
{
	runtime_map(READERS_START, (size_t)BLOCKS_LIMIT * sizeof(struct readers));
	spare_start(SPARE_READERS, BLOCKS_LIMIT);
}

void readers_recycle(void (*each)(uint64_t *word))
{
	for (uint32_t number = 1; number <= RELAXED_GET(runtime.next_readers); number++) {
		each(&readers_at(number)->latest);
		for (uint32_t i = 0; i < readers_at(number)->n && i < READERS_PER_BLOCK; i++)
			each(&readers_at(number)->words[i]);
	}
}

uint32_t readers_new(struct thread *self, const struct cell *home)
{
	uint32_t number = spare_new(&self->spares[SPARE_READERS], SPARE_READERS, &runtime.next_readers,
				    BLOCKS_LIMIT, "no more room for readers of shared locations");
	struct readers *readers = readers_at(number);
	readers->next = 0;
	readers->n = 0;
	readers->home = home_of(home);
	readers->latest = 0;
	return number;
}

void readers_free(struct thread *self, uint32_t number)
{
	while (number) {
		uint32_t next = readers_at(number)->next;
		spare_give(&self->spares[SPARE_READERS], SPARE_READERS, number);
		number = next;
	}
}

uint64_t *readers_find(struct readers *readers, uint32_t slot)
{
	for (;;) {
		for (uint32_t i = 0; i < readers->n && i < READERS_PER_BLOCK; i++)
			if (WORD_SLOT(readers->words[i]) == slot)
				return &readers->words[i];
		if (!readers->next)
			return NULL;
		readers = readers_at(readers->next);
	}
}

void readers_add(struct thread *self, struct readers *readers, uint64_t word, const struct cell *home)
{
	while (readers->n == READERS_PER_BLOCK) {
		if (!readers->next)
			readers->next = readers_new(self, home);
		readers = readers_at(readers->next);
	}
	readers->words[readers->n] = word;
	/* Pairs with readers_find without lock: the word is there before it counts. */
	__atomic_store_n(&readers->n, (uint16_t)(readers->n + 1), __ATOMIC_RELEASE);
}

uint32_t readers_copy(struct thread *self, uint32_t number, const struct cell *home)
{
	uint32_t copy = readers_new(self, home);
	readers_at(copy)->latest = readers_at(number)->latest;
	for (const struct readers *from = readers_at(number);; from = readers_at(from->next)) {
		for (uint32_t i = 0; i < from->n && i < READERS_PER_BLOCK; i++)
			readers_add(self, readers_at(copy), from->words[i], home);
		if (!from->next)
			return copy;
	}
}
