/* Lists of readers: which threads have read a value since it was written, each at which site
 * last, who came last and what came before. Like histories, lists follow the program's text
 * and not its data: each distinct one has a number, and a read makes a step from one number
 * to the next. A block of readers (readers.c) then holds a number and the orders. Numbers are
 * never given back; when there are no more, blocks hold the words themselves. */
#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"

#define LISTS (1u << 14) /* of the 2^16 that there are numbers for: a program that has more has many more */

static struct index list_numbers;
static uint32_t lists; /* of lists; number 0 is none */

void lists_start(void)
{
	runtime_map(LISTS_START, (size_t)LISTS * sizeof(struct list));
	index_start_far(&list_numbers);
	lists = 1;
}

/* Threads whose slots are given away: the lists keep their numbers. Two may become the same, which does no
 * harm. Steps of living threads stay true, since both ends of a step are renamed. */
void lists_recycle(void (*each)(uint32_t *reader))
{
	for (uint32_t number = 1; number < RELAXED_GET(lists) && number < LISTS; number++)
		for (uint32_t i = 0; i < LISTED_MOST; i++)
			each(&((struct list *)LISTS_START + number)->readers[i]);
}

bool lists_are_full(void)
{
	return RELAXED_GET(lists) >= LISTS;
}

static uint64_t hash_of(const struct list *list)
{
	uint64_t words[5], hash = 0;
	_Static_assert(sizeof words == sizeof *list, "a list is five words");
	__builtin_memcpy(words, list, sizeof words);
	for (int i = 0; i < 5; i++)
		hash = observe_mix(hash, words[i]);
	return hash >> 32;
}

bool list_names(uint32_t number, uint32_t reader)
{
	const struct list *list = list_at(number);
	for (uint32_t i = 0; i < list->n && i < LISTED_MOST; i++)
		if (list->readers[i] == reader)
			return true;
	return false;
}

uint32_t list_number(const struct list *list)
{
	uint64_t hash = hash_of(list);
	struct probe probe = index_probe(hash, RELAXED_GET(lists));
	for (uint32_t found; (found = index_next(&list_numbers, &probe));)
		if (__builtin_memcmp(list_at(found - 1), list, sizeof *list) == 0)
			return found - 1;
	if (lists_are_full())
		return 0;
	uint32_t number = __atomic_fetch_add(&lists, 1, __ATOMIC_RELAXED);
	if (number >= LISTS) {
		RELAXED_SET(lists, LISTS);
		return 0;
	}
	*((struct list *)LISTS_START + number) = *list;
	probe = index_probe(hash, number);
	while (index_publish(&list_numbers, &probe, number)) /* a twin does no harm */
		;
	return number;
}

/* A reader that is new goes where its slot belongs, and not behind the others: lists would be many times as
 * many. Those whose slots are given away stay where they are. */
static uint32_t list_read(struct list *list, uint64_t word)
{
	uint32_t at = 0, slot = WORD_SLOT(word);
	while (at < list->n && READER_SLOT(list->readers[at]) != slot)
		at++;
	bool first = at == list->n;
	if (first || at != list->latest)
		list->before = READER_SITE(list->readers[list->latest]);
	if (at == LISTED_MOST)
		return at;
	for (; first && at > 0 && READER_SLOT(list->readers[at - 1]) > slot; at--)
		list->readers[at] = list->readers[at - 1];
	list->readers[at] = READER(word);
	list->latest = at & 31;
	list->n = (list->n + first) & 31;
	return at;
}

/* What is known is one word, so that a signal handler finds it whole: a step from a list, and whether it is
 * a read or a correction of this thread's. */
#define LISTED_KEY_BITS (LIST_BITS + 23u)
#define LISTED_PLACE_BITS 11u
#define LISTED_TAG_BITS (LISTED_KEY_BITS - LISTED_PLACE_BITS)
#define LISTED_STEP_BITS (LIST_BITS + 5u)
struct listed_place {
	uint64_t *word, tag;
};

static struct listed_place listed_place(struct thread *self, uint32_t number, uint32_t site, bool corrects)
{
	/* Multiplying by an odd number is one to one: what is not in the place is in the tag. */
	uint64_t key = ((uint64_t)number << 22 | site) << 1 | corrects;
	key = key * 0x9e3779b97f4a7c15u & ((1ull << LISTED_KEY_BITS) - 1);
	return (struct listed_place){ &self->listed[key >> LISTED_TAG_BITS],
				      (key & ((1ull << LISTED_TAG_BITS) - 1)) << LISTED_STEP_BITS |
					      1ull << 63 };
}

/* 0 when slots were given away meanwhile: those that are from now on are renamed in the new list too; others
 * might not be. Publishing it and counting (recycle_slots) are full barriers. */
static uint32_t number_of_next(const struct list *next, uint32_t recycled)
{
	uint32_t to = list_number(next);
	return RELAXED_GET(runtime.recycled) == recycled ? to : 0;
}

uint32_t list_step(struct thread *self, uint32_t number, uint64_t word)
{
	struct listed_place place = listed_place(self, number, WORD_SITE(word), false);
	uint64_t known = RELAXED_GET(*place.word) ^ place.tag;
	if (LIKELY(known < 1u << LISTED_STEP_BITS))
		return (uint32_t)known;
	uint32_t recycled = RELAXED_GET(runtime.recycled);
	struct list next = *list_at(number);
	uint32_t n = next.n, at = list_read(&next, word);
	bool first = at == LISTED_MOST || next.n != n;
	observe_predecessor(self, WORD_SITE(word), next.before);
	uint32_t step = at << LIST_BITS | (first ? STEP_IS_FIRST : 0);
	uint32_t to = at < LISTED_MOST ? number_of_next(&next, recycled) : 0;
	if (to)
		RELAXED_SET(*place.word, place.tag | step | to);
	return step | to;
}

uint32_t list_correct(struct thread *self, uint32_t number, uint32_t slot, uint32_t site)
{
	struct listed_place place = listed_place(self, number, site, true);
	uint64_t known = RELAXED_GET(*place.word) ^ place.tag;
	if (slot == self->slot && known < 1u << LISTED_STEP_BITS)
		return LIST(known);
	uint32_t recycled = RELAXED_GET(runtime.recycled);
	struct list next = *list_at(number);
	for (uint32_t i = 0; i < next.n && i < LISTED_MOST; i++)
		if (READER_SLOT(next.readers[i]) == slot)
			next.readers[i] = READER_AT(slot, site);
	uint32_t to = number_of_next(&next, recycled);
	if (to && slot == self->slot)
		RELAXED_SET(*place.word, place.tag | to);
	return to;
}
