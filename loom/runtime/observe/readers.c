/* Blocks of readers for cells that several threads have read since the last write.
 * Mostly a block is the number of a list (lists.c) and the order of each reader's last
 * read, in one of three sizes. Where there are too many readers or lists, and in short runs,
 * blocks of the readers' whole words are chained. Blocks are never unmapped; the upper bits
 * of a number tell the kind. */
#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/spare.h"

#define BLOCKS_LIMIT (1u << 28)
#define KIND_SHIFT 30u
#define BLOCK_KIND(number) ((number) >> KIND_SHIFT)
#define BLOCK_INDEX(number) ((number) & ((1u << KIND_SHIFT) - 1))
enum { WHOLE_WORDS, LISTED_FEW, LISTED_MORE, LISTED_MANY };

/* A cell that two threads changed at once may name any block: so blocks know low bits of their cell's address. */
struct words {
	uint32_t next; /* further block of the same cell, 0 = none */
	uint16_t n;
	uint16_t home;
	uint64_t latest; /* in the first block: the last read, its order replaced by the site before it */
	uint64_t words[4];
};
#define WORDS_PER_BLOCK 4u

struct listed {
	uint32_t head;     /* home | number of a list */
	uint32_t orders[]; /* of its readers */
};
#define HOME(cell) ((uint32_t)((uint64_t)(cell) >> 4))

static const uint32_t capacities[READERS_KINDS] = {
	[LISTED_FEW] = 3, [LISTED_MORE] = 5, [LISTED_MANY] = LISTED_MOST
};

/* Block 0 stays empty. */
static struct words *words_at(uint32_t number)
{
	return (struct words *)READERS_END - 1 -
	       (number <= RELAXED_GET(runtime.next_readers[WHOLE_WORDS]) ? number : 0);
}

static struct listed *listed_at(uint32_t number)
{
	uint32_t kind = BLOCK_KIND(number);
	return (struct listed *)(LISTED_START + (uint64_t)kind * LISTED_SPAN +
				 (uint64_t)BLOCK_INDEX(number) * 4 * (1 + capacities[kind]));
}

static bool is_listed(uint32_t number)
{
	uint32_t kind = BLOCK_KIND(number);
	return kind && kind < READERS_KINDS && BLOCK_INDEX(number) <= RELAXED_GET(runtime.next_readers[kind]);
}

/* Acquire: the list is complete. Pairs with listed_read. */
static uint32_t head_of(const struct listed *block)
{
	return __atomic_load_n(&block->head, __ATOMIC_ACQUIRE);
}

uint32_t readers_of(const struct cell *cell, uint32_t number)
{
	if (is_listed(number)) {
		uint32_t head = head_of(listed_at(number));
		return LIST(head) && head - LIST(head) == HOME(cell) << LIST_BITS ? number : 0;
	}
	const struct words *block = words_at(number);
	return block != words_at(0) && block->home == (uint16_t)HOME(cell) ? number : 0;
}

uint32_t readers_list(const struct cell *cell, uint32_t number)
{
	uint32_t head = is_listed(number) ? head_of(listed_at(number)) : 0;
	return head - LIST(head) == HOME(cell) << LIST_BITS ? LIST(head) : 0;
}

void readers_start(void)
{
	runtime_map(READERS_END - BLOCKS_LIMIT * sizeof(struct words), BLOCKS_LIMIT * sizeof(struct words));
	runtime_map(LISTED_START, READERS_KINDS * LISTED_SPAN);
	spare_start();
	lists_start();
}

void readers_recycle(void (*each)(uint32_t *reader))
{
	lists_recycle(each);
	for (uint32_t number = 1; number <= RELAXED_GET(runtime.next_readers[WHOLE_WORDS]); number++) {
		struct words *block = words_at(number);
		each((uint32_t *)&block->latest + 1);
		for (uint32_t i = 0; i < block->n && i < WORDS_PER_BLOCK; i++)
			each((uint32_t *)&block->words[i] + 1);
	}
}

/* 0 when there are too many of the kind. */
static uint32_t readers_block(struct thread *self, uint32_t kind)
{
	uint32_t *next = &runtime.next_readers[kind];
	if (kind != WHOLE_WORDS && RELAXED_GET(*next) >= BLOCKS_LIMIT - AREA_SLOTS)
		return 0;
	return kind << KIND_SHIFT | spare_new(&self->spares[SPARE_READERS + kind], SPARE_READERS + kind, next,
					      BLOCKS_LIMIT, "no more room for readers of shared locations");
}

void readers_free(struct thread *self, uint32_t number)
{
	if (is_listed(number)) {
		uint32_t kind = SPARE_READERS + BLOCK_KIND(number);
		spare_give(&self->spares[kind], kind, BLOCK_INDEX(number));
		return;
	}
	for (uint32_t next; words_at(number) != words_at(0); number = next) {
		next = words_at(number)->next;
		spare_give(&self->spares[SPARE_READERS], SPARE_READERS, number);
	}
}

/* ---- whole words ---- */

static uint32_t words_new(struct thread *self, const struct cell *home)
{
	uint32_t number = readers_block(self, WHOLE_WORDS);
	struct words *block = words_at(number);
	block->next = 0;
	block->n = 0;
	block->home = (uint16_t)HOME(home);
	block->latest = 0;
	return number;
}

static uint64_t *words_find(struct words *block, uint32_t slot)
{
	for (;;) {
		for (uint32_t i = 0; i < block->n && i < WORDS_PER_BLOCK; i++)
			if (WORD_SLOT(block->words[i]) == slot)
				return &block->words[i];
		if (!block->next)
			return NULL;
		block = words_at(block->next);
	}
}

static void words_add(struct thread *self, struct words *block, uint64_t word, const struct cell *home)
{
	while (block->n == WORDS_PER_BLOCK) {
		if (!block->next)
			block->next = words_new(self, home);
		block = words_at(block->next);
	}
	block->words[block->n] = word;
	/* Pairs with words_find without lock: the word is there before it counts. */
	__atomic_store_n(&block->n, (uint16_t)(block->n + 1), __ATOMIC_RELEASE);
}

/* One store keeps the latest read and, in place of its order, the site of what came before. */
static uint64_t latest_of(uint64_t word, uint32_t before)
{
	return word >> 32 << 32 | before;
}

static uint32_t words_last(const struct thread *self, const struct words *block)
{
	uint64_t latest = block->latest;
	return WORD_SLOT(latest) == self->slot ? WORD_ORDER(latest) : WORD_SITE(latest);
}

/* Two that read in the same instant may leave either one as the latest. */
static void words_read(struct thread *self, struct words *block, uint64_t word)
{
	uint32_t last = words_last(self, block);
	block->latest = latest_of(word, last);
	observe_predecessor(self, WORD_SITE(word), last);
}

/* Relaxed: of what its thread notes in the same instant either may stay. */
static void words_correct(struct words *block, uint32_t slot, uint32_t site)
{
	uint64_t *word = words_find(block, slot), *both[] = { word, &block->latest };
	for (int i = 0; i < 2 && word; i++) {
		uint64_t old = RELAXED_GET(*both[i]);
		uint64_t fresh = (uint64_t)READER_AT(slot, site) << 32 | WORD_ORDER(old);
		if (WORD_SLOT(old) == slot)
			__atomic_compare_exchange_n(both[i], &old, fresh, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
}

static uint32_t words_copy(struct thread *self, uint32_t number, const struct cell *home)
{
	uint32_t copy = words_new(self, home);
	words_at(copy)->latest = words_at(number)->latest;
	for (const struct words *from = words_at(number);; from = words_at(from->next)) {
		for (uint32_t i = 0; i < from->n && i < WORDS_PER_BLOCK; i++)
			words_add(self, words_at(copy), from->words[i], home);
		if (!from->next)
			return copy;
	}
}

/* ---- lists and orders ---- */

/* Of the smallest kind with room for `n` orders, none of which is there yet; 0 when there is no list. */
static uint32_t listed_new(struct thread *self, uint32_t list, uint32_t n, const struct cell *home)
{
	uint32_t kind = LISTED_FEW;
	while (n > capacities[kind])
		kind++;
	uint32_t number = list ? readers_block(self, kind) : 0;
	if (number)
		listed_at(number)->head = HOME(home) << LIST_BITS | list;
	return number;
}

static uint64_t listed_word(const struct list *list, const struct listed *block, uint32_t i)
{
	return (uint64_t)list->readers[i] << 32 | RELAXED_GET(block->orders[i]);
}

/* The same readers in words. */
static uint32_t listed_spell(struct thread *self, const struct listed *block, const struct cell *home)
{
	const struct list *list = list_at(LIST(head_of(block)));
	uint32_t number = words_new(self, home);
	for (uint32_t i = 0; i < list->n; i++)
		words_add(self, words_at(number), listed_word(list, block, i), home);
	words_at(number)->latest = latest_of(listed_word(list, block, list->latest), list->before);
	return number;
}

/* Under the granule's lock: a block with one more reader. Its slot decides where its order is, so blocks
 * that others see never get one more themselves. */
static uint32_t listed_add(struct thread *self, uint32_t number, uint64_t word, const struct cell *home)
{
	const struct listed *block = listed_at(number);
	uint32_t list = LIST(head_of(block)), n = list_at(list)->n, step = list_step(self, list, word);
	uint32_t at = STEP_AT(step), larger = LIST(step) ? listed_new(self, LIST(step), n + 1, home) : 0;
	if (!larger)
		return readers_add(self, listed_spell(self, block, home), word, home);
	uint32_t *orders = listed_at(larger)->orders;
	for (uint32_t i = 0; i < n; i++)
		orders[i + (i >= at)] = RELAXED_GET(block->orders[i]);
	orders[at] = WORD_ORDER(word);
	return larger;
}

static enum reading listed_read(struct thread *self, struct listed *block, uint64_t word)
{
	for (;;) {
		uint32_t head = head_of(block), step = list_step(self, LIST(head), word);
		if (step & STEP_IS_FIRST)
			return READING_FIRST;
		if (!LIST(step))
			return READING_MOVES;
		/* The list before the order: a block that is another cell's by now has another head. */
		if (LIST(step) != LIST(head) &&
		    !__atomic_compare_exchange_n(&block->head, &head, head - LIST(head) + LIST(step), false,
						 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			continue;
		RELAXED_SET(block->orders[STEP_AT(step)], WORD_ORDER(word));
		return READING_AGAIN;
	}
}

static bool listed_correct(struct thread *self, struct listed *block, const struct cell *home, uint32_t slot,
			   uint32_t site)
{
	for (;;) {
		uint32_t head = head_of(block);
		if (head - LIST(head) != HOME(home) << LIST_BITS || !LIST(head))
			return true; /* it is another cell's by now */
		uint32_t to = list_correct(self, LIST(head), slot, site);
		if (!to)
			return false;
		if (to == LIST(head) ||
		    __atomic_compare_exchange_n(&block->head, &head, head - LIST(head) + to, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return true;
	}
}

static uint32_t listed_copy(struct thread *self, const struct listed *block, const struct cell *home)
{
	uint32_t list = LIST(head_of(block)), n = list_at(list)->n, number = listed_new(self, list, n, home);
	for (uint32_t i = 0; i < n && number; i++)
		listed_at(number)->orders[i] = RELAXED_GET(block->orders[i]);
	return number;
}

/* ---- either ---- */

/* Into the order of lists. */
static uint32_t words_sort(const uint64_t *words, uint32_t n, uint64_t *sorted)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (at = i; at > 0 && WORD_SLOT(sorted[at - 1]) > WORD_SLOT(words[i]); at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = words[i];
	}
	return at; /* of the last one */
}

uint32_t readers_new(struct thread *self, const struct cell *home, const uint64_t *words, uint32_t n,
		     uint32_t before)
{
	uint64_t sorted[3];
	uint32_t latest = words_sort(words, n, sorted), number = 0;
	/* Where lists are too many for their numbers, the next one would have none either. */
	if (!runtime.lean && !lists_are_full()) {
		struct list list = { .before = before & WORD_SITE_MASK, .latest = latest & 31, .n = n & 31 };
		for (uint32_t i = 0; i < n; i++)
			list.readers[i] = READER(sorted[i]);
		number = listed_new(self, list_number(&list), n, home);
	}
	for (uint32_t i = 0; i < n && number; i++)
		listed_at(number)->orders[i] = WORD_ORDER(sorted[i]);
	if (number)
		return number;
	number = words_new(self, home);
	for (uint32_t i = 0; i < n; i++)
		words_add(self, words_at(number), words[i], home);
	words_at(number)->latest = latest_of(words[n - 1], before);
	return number;
}

enum reading readers_read(struct thread *self, uint32_t number, uint64_t word)
{
	if (is_listed(number))
		return listed_read(self, listed_at(number), word);
	uint64_t *mine = words_find(words_at(number), self->slot);
	if (!mine)
		return READING_FIRST;
	*mine = word;
	words_read(self, words_at(number), word);
	return READING_AGAIN;
}

uint32_t readers_add(struct thread *self, uint32_t number, uint64_t word, const struct cell *home)
{
	if (is_listed(number))
		return listed_add(self, number, word, home);
	if (readers_read(self, number, word) == READING_AGAIN)
		return number; /* it was in a list, and the next one has no number */
	words_add(self, words_at(number), word, home);
	words_read(self, words_at(number), word);
	return number;
}

uint32_t readers_copy(struct thread *self, uint32_t number, const struct cell *home)
{
	if (!is_listed(number))
		return words_copy(self, number, home);
	uint32_t copy = listed_copy(self, listed_at(number), home);
	return copy ? copy : listed_spell(self, listed_at(number), home);
}

uint32_t readers_last(const struct thread *self, uint32_t number)
{
	if (!is_listed(number))
		return words_last(self, words_at(number));
	const struct list *list = list_at(LIST(head_of(listed_at(number))));
	uint32_t latest = list->readers[list->latest];
	return READER_SLOT(latest) == self->slot ? list->before : READER_SITE(latest);
}

uint64_t readers_latest(uint32_t number)
{
	if (!is_listed(number))
		return words_at(number)->latest >> 32 << 32;
	const struct list *list = list_at(LIST(head_of(listed_at(number))));
	return (uint64_t)list->readers[list->latest] << 32;
}

bool readers_correct(struct thread *self, const struct cell *cell, uint32_t number, uint32_t slot,
		     uint32_t site)
{
	if (is_listed(number))
		return listed_correct(self, listed_at(number), cell, slot, site);
	words_correct(words_at(readers_of(cell, number)), slot, site);
	return true;
}

uint64_t readers_next(struct readers_walk *walk)
{
	if (is_listed(walk->number)) {
		const struct listed *block = listed_at(walk->number);
		const struct list *list = list_at(LIST(head_of(block)));
		return walk->at < list->n ? listed_word(list, block, walk->at++) : 0;
	}
	const struct words *block = words_at(walk->number);
	if (walk->at == WORDS_PER_BLOCK && block->next) {
		*walk = (struct readers_walk){ .number = block->next };
		block = words_at(walk->number);
	}
	return walk->at < block->n && walk->at < WORDS_PER_BLOCK ? block->words[walk->at++] : 0;
}
