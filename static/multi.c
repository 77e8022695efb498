/* Atomicity candidates on two variables: one thread touches both in two critical
 * sections, and another touches both in between. What speaks for a mistake is that
 * somewhere the two are used together under one lock, and here apart. Only accesses
 * under locks count: without locks, any two variables would be a pair. */
#include <stdlib.h>
#include <string.h>

#include "static/events.h"

#define NARROW 4u        /* locations of an access that is clear enough */
#define NEAR_EVENTS 12u  /* later events that an event is paired with */
#define COUPLES_MOST 24u /* of one pair of variables that are kept */
#define MADE_MOST 400u   /* candidates in all */
#define OF_ONE_PAIR 8u   /* candidates of one pair of variables */

/* Two accesses of one function, one after the other, to two variables. */
struct couple {
	uint32_t function;
	uint32_t first, second; /* accesses */
	bool one_section;       /* one lock is held from the first to the second */
	enum dependence dependence;
};

struct couples {
	uint64_t key;
	VEC(struct couple) items;
};

struct search {
	struct scanner *scanner;
	struct scan *out;
	struct map numbers; /* pair of places → number of the list */
	VEC(struct couples) lists;
	struct map made; /* four statements → 1 */
	size_t nmade;
};

static const struct access_at *access_of(const struct search *search, uint32_t number)
{
	return &search->scanner->accesses.items.items[number];
}

/* The place of an access that leads to few: its first; false for others. */
static bool place_of_access(struct search *search, uint32_t number, uint64_t *out)
{
	const struct access_at *access = access_of(search, number);
	uint32_t statement = search->scanner->statement_of[number];

	if (!access->breadth || access->breadth > NARROW || !access->held.n || access->atomic ||
	    !*search->scanner->statements.items[statement].variable)
		return false;
	const roaring_bitmap_t *set = points_to(&search->scanner->points, access->pointer);
	struct solver_location at =
		search->scanner->points.solver.locations.items[roaring_bitmap_minimum(set)];

	*out = (uint64_t)at.object << 32 | at.offset;
	return search->scanner->accesses.shared[at.object];
}

static void keep(struct search *search, uint64_t first, uint64_t second, const struct couple *couple)
{
	uint64_t places[2] = { first < second ? first : second, first < second ? second : first };
	bool fresh;
	uint64_t key = hash_bytes(HASH_START, places, sizeof places);
	uint64_t *number = map_put(&search->numbers, key, &fresh);

	if (fresh) {
		*number = search->lists.n;
		VEC_PUSH(&search->lists)->key = key;
	}
	struct couples *list = &search->lists.items[*number];

	for (size_t i = 0; i < list->items.n; i++)
		if (list->items.items[i].first == couple->first &&
		    list->items.items[i].second == couple->second)
			return;
	if (list->items.n < COUPLES_MOST)
		*VEC_PUSH(&list->items) = *couple;
}

/* Members that one line moves together are no two variables. */
static bool is_one_line(const struct search *search, const struct event *a, const struct event *b)
{
	const struct scanner *scanner = search->scanner;

	return scanner->statements.items[scanner->statement_of[a->access]].line ==
	       scanner->statements.items[scanner->statement_of[b->access]].line;
}

static void collect(struct search *search, uint32_t function)
{
	struct events events;

	events_start(&events, search->scanner, function);
	for (size_t i = 0; i < events.items.n; i++) {
		const struct event *first = &events.items.items[i];
		uint64_t one, two;

		if (!place_of_access(search, first->access, &one))
			continue;
		for (size_t j = i + 1; j < events.items.n && j <= i + NEAR_EVENTS; j++) {
			const struct event *second = &events.items.items[j];
			bool again;

			/* What a function called here does to both is that function's own matter. */
			if (first->position == second->position || is_one_line(search, first, second) ||
			    !place_of_access(search, second->access, &two) || one == two ||
			    !events_follow(&events, first, second, &again) || again)
				continue;
			keep(search, one, two,
			     &(struct couple){ .function = function,
					       .first = first->access,
					       .second = second->access,
					       .one_section = events_one_section(first, second),
					       .dependence = events_depend(&events, first, second) });
		}
	}
	events_free(&events);
}

/* ---- candidates ---- */

static bool conflict(const struct access_at *a, const struct access_at *b)
{
	return a->kind != SITE_READ || b->kind != SITE_READ;
}

/* The accesses of the second couple that go with the first and the second of the first one. */
static void align(struct search *search, const struct couple *apart, const struct couple *other,
		  uint32_t out[2])
{
	uint64_t first, theirs;

	place_of_access(search, apart->first, &first);
	place_of_access(search, other->first, &theirs);
	out[0] = first == theirs ? other->first : other->second;
	out[1] = first == theirs ? other->second : other->first;
}

static void make(struct search *search, const struct couple *apart, const struct couple *other,
		 const uint32_t with[2], const uint32_t roots[2])
{
	struct scanner *scanner = search->scanner;
	struct candidate *made = VEC_PUSH(&search->out->candidates);
	const uint32_t order[4] = { apart->first, with[0], with[1], apart->second };
	static const unsigned threads[4] = { 1, 2, 2, 1 };

	*made = (struct candidate){ .kind = CANDIDATE_MULTI_ATOMICITY };
	score_add(made, NOTE_COUPLE);
	if (other->one_section)
		score_add(made, NOTE_OTHERS_SECTION);
	if (apart->dependence != INDEPENDENT)
		score_add(made, NOTE_SECOND_DEPENDS);
	for (int i = 0; i < 4; i++) {
		struct candidate_access *access = VEC_PUSH(&made->accesses);

		scanner_describe(scanner, order[i], threads[i], roots[threads[i] - 1], access);
		access->lock = locks_common(&access_of(search, order[i])->held,
					    &access_of(search, order[3 - i])->held);
	}
	made->parallel = score_parallel(scanner, roots);
	made->variable =
		memory_format("%s, %s", made->accesses.items[0].variable, made->accesses.items[3].variable);
}

static bool try_two(struct search *search, const struct couple *apart, const struct couple *other)
{
	struct scanner *scanner = search->scanner;
	uint32_t with[2], roots[2], again[2];
	enum pruned why;
	bool fresh;

	align(search, apart, other, with);
	if (!conflict(access_of(search, apart->first), access_of(search, with[0])) ||
	    !conflict(access_of(search, apart->second), access_of(search, with[1])) ||
	    !pairs_parallel(scanner, apart->first, with[0], roots, &why) ||
	    !pairs_parallel(scanner, apart->second, with[1], again, &why))
		return false;
	const uint32_t statements[4] = { scanner->statement_of[apart->first], scanner->statement_of[with[0]],
					 scanner->statement_of[with[1]],
					 scanner->statement_of[apart->second] };

	map_put(&search->made, hash_bytes(HASH_START, statements, sizeof statements), &fresh);
	if (!fresh)
		return false;
	make(search, apart, other, with, roots);
	search->nmade++;
	return true;
}

/* Are the same lines one section elsewhere? Then these are two operations, each of them whole. */
static bool is_whole_elsewhere(const struct search *search, const struct couples *list,
			       const struct couple *apart)
{
	const uint32_t *statement = search->scanner->statement_of;

	for (size_t i = 0; i < list->items.n; i++) {
		const struct couple *other = &list->items.items[i];
		bool same = statement[other->first] == statement[apart->first] &&
			    statement[other->second] == statement[apart->second];
		bool turned = statement[other->first] == statement[apart->second] &&
			      statement[other->second] == statement[apart->first];

		if (other->one_section && (same || turned))
			return true;
	}
	return false;
}

/* Those that use both under one lock elsewhere first: they say how it is meant. */
static void pair_up(struct search *search, const struct couples *list)
{
	size_t made = 0;

	for (int together = 1; together >= 0; together--)
		for (size_t i = 0; i < list->items.n; i++)
			for (size_t j = 0; j < list->items.n; j++) {
				const struct couple *apart = &list->items.items[i],
						    *other = &list->items.items[j];

				if (made == OF_ONE_PAIR || search->nmade == MADE_MOST)
					return;
				if (!apart->one_section && other->one_section == (bool)together &&
				    !is_whole_elsewhere(search, list, apart))
					made += try_two(search, apart, other);
			}
}

void multi_find(struct scanner *scanner, struct scan *out)
{
	struct search search = { .scanner = scanner, .out = out };

	size_t all = scanner->locks.items.n ? scanner->whole.functions.n : 0;

	for (uint32_t f = 0; f < all && scanner_go_on(scanner, out, SCAN_COUPLES, f, all); f++)
		if (threads_running(&scanner->threads, f))
			collect(&search, f);
	for (size_t i = 0; i < search.lists.n; i++)
		pair_up(&search, &search.lists.items[i]);
	for (size_t i = 0; i < search.lists.n; i++)
		VEC_FREE(&search.lists.items[i].items);
	VEC_FREE(&search.lists);
	map_free(&search.numbers);
	map_free(&search.made);
}
