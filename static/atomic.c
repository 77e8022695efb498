/* Atomicity candidates on one variable: two accesses of one thread that no lock holds
 * together, and an access of another thread that cannot be placed before or after both
 * without a difference. A value that is read, worked on and written back; a check and
 * what is done because of it; one lock taken twice for one matter. */
#include <stdlib.h>
#include <string.h>

#include "static/events.h"

#define OTHERS_MOST 8
#define PLACES_MOST 24   /* locations of one access that are looked at */
#define TRIES_MOST 64    /* pairs of accesses of one pair of lines that are looked at */
#define ROUNDS_MOST 2    /* callers through which one pair of accesses is looked at */
#define TOUCHES_MOST 256 /* of one object that are looked at for what could come between */
#define NEAR_EVENTS 12   /* later events of a location that an event is paired with */

struct search {
	struct scanner *scanner;
	struct scan *out;
	struct map seen;   /* pairs of statements → candidate + 1 */
	struct map tries;  /* pairs of statements → how often they were looked at */
	struct map rounds; /* pairs of accesses → the same */
};

static const struct access_at *access_of(const struct scanner *scanner, uint32_t number)
{
	return &scanner->accesses.items.items[number];
}

/* The four interleavings of three accesses that no order of the whole operations gives. */
static bool unserialisable(enum site_kind first, enum site_kind between, enum site_kind second)
{
	bool read_first = first != SITE_WRITE, write_first = first != SITE_READ;
	bool read_second = second != SITE_WRITE, write_second = second != SITE_READ;
	bool read_between = between != SITE_WRITE, write_between = between != SITE_READ;

	return (write_between && (read_second || (read_first && write_second))) ||
	       (read_between && write_first && write_second);
}

/* A loop that compares and swaps what it read does no harm when another comes between. */
static bool is_retry(const struct scanner *scanner, const struct access_at *second)
{
	return LLVMIsAAtomicCmpXchgInst(scanner->whole.instructions.items[second->instruction]) != NULL;
}

/* ---- the access between ---- */

struct between {
	uint32_t access;
	uint32_t roots[2];
	double worth;
};

static int by_worth(const void *a, const void *b)
{
	const struct between *left = a, *right = b;

	if (left->worth != right->worth)
		return left->worth < right->worth ? 1 : -1;
	return (left->access > right->access) - (left->access < right->access);
}

static bool overlaps(const struct access_at *a, uint32_t at, const struct access_at *b, uint32_t to)
{
	return at == to || (at < to ? !a->size || to - at < a->size : !b->size || at - to < b->size);
}

/* Accesses of other threads that conflict with both, one for each statement, the most suspicious first. */
static size_t find_between(struct search *search, const struct event *first, const struct event *second,
			   uint32_t object, uint32_t offset, struct between *out)
{
	struct scanner *scanner = search->scanner;
	const struct access_at *a = access_of(scanner, first->access),
			       *c = access_of(scanner, second->access);
	struct map seen = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < scanner->accesses.touches[object].n && i < TOUCHES_MOST && n < 4 * OTHERS_MOST;
	     i++) {
		const struct touch *touch = &scanner->accesses.touches[object].items[i];
		const struct access_at *b = access_of(scanner, touch->access);
		struct between found = { .access = touch->access };
		enum pruned why;
		uint32_t other[2];
		bool fresh;

		if (!overlaps(a, offset, b, touch->offset) || !unserialisable(a->kind, b->kind, c->kind) ||
		    !scanner_types_meet(scanner, a, b) ||
		    map_get(&seen, scanner->statement_of[touch->access]) ||
		    !pairs_parallel(scanner, first->access, touch->access, found.roots, &why) ||
		    !pairs_parallel(scanner, second->access, touch->access, other, &why))
			continue;
		map_put(&seen, scanner->statement_of[touch->access], &fresh);
		found.worth = score_worth(scanner, first->access, touch->access, found.roots);
		out[n++] = found;
	}
	map_free(&seen);
	qsort(out, n, sizeof *out, by_worth);
	return n;
}

/* ---- one candidate ---- */

static void score(struct search *search, struct events *events, const struct event *first,
		  const struct event *second, bool again, struct candidate *out)
{
	const struct access_at *a = access_of(search->scanner, first->access);
	const struct access_at *c = access_of(search->scanner, second->access);
	enum dependence dependence = events_depend(events, first, second);
	uint32_t lock = locks_common(&a->held, &c->held);

	if (dependence == BY_VALUE && c->kind != SITE_READ && a->kind == SITE_READ)
		score_add(out, NOTE_MODIFIES);
	else if (dependence == BY_VALUE)
		score_add(out, NOTE_USES_FOUND);
	else if (dependence == BY_CONTROL)
		score_add(out, NOTE_DONE_BECAUSE);
	else if (a->kind == SITE_READ)
		score_add(out, NOTE_UNTIED);
	else if (again)
		score_add(out, NOTE_REPEATED);
	if (lock != WHOLE_NONE && a->kind == SITE_READ && !events_split(events, first, second)) {
		score_add(out, NOTE_LOOKED_AGAIN);
	} else if (lock != WHOLE_NONE) {
		score_add_lock(out, NOTE_GIVEN_BACK,
			       out->kind == CANDIDATE_KINDS ? NULL : scanner_lock(search->scanner, lock));
	}
	if (again)
		score_add(out, NOTE_OTHER_ROUND);
	if (!first->direct || !second->direct)
		score_add(out, NOTE_INDIRECT);
}

static void weigh(struct search *search, struct events *events, const struct event *first,
		  const struct event *second, bool again, const struct between *between,
		  struct candidate *out)
{
	struct scanner *scanner = search->scanner;

	score_pair(scanner, first->access, between->access, between->roots, out);
	/* What two accesses have against them counts; that they hold a lock each does not. */
	if (locks_common(&access_of(scanner, first->access)->held,
			 &access_of(scanner, between->access)->held) != WHOLE_NONE)
		score_add(out, NOTE_LOCKED_BETWEEN);
	score(search, events, first, second, again, out);
}

/* Which lock keeps the sides from each other, for each access. */
static void set_locks(struct scanner *scanner, const struct event *first, const struct event *second,
		      const struct between *between, size_t n, struct candidate *out)
{
	const struct lockset *one = &access_of(scanner, first->access)->held;
	const struct lockset *two = &access_of(scanner, second->access)->held;

	for (size_t i = 0; i < n && i < OTHERS_MOST; i++) {
		const struct lockset *other = &access_of(scanner, between[i].access)->held;
		uint32_t with_first = locks_common(one, other), with_second = locks_common(two, other);
		uint32_t lock = with_first != WHOLE_NONE ? with_first : with_second;

		if (i > 0) {
			out->others.items[i - 1].lock = lock;
			continue;
		}
		out->accesses.items[0].lock = with_first;
		out->accesses.items[1].lock = lock;
		out->accesses.items[2].lock = with_second;
	}
}

static void make(struct search *search, struct events *events, const struct event *first,
		 const struct event *second, bool again, const struct between *between, size_t n,
		 struct candidate *out)
{
	struct scanner *scanner = search->scanner;

	*out = (struct candidate){ .kind = CANDIDATE_ATOMICITY };
	weigh(search, events, first, second, again, between, out);
	scanner_describe(scanner, first->access, 1, between[0].roots[0], VEC_PUSH(&out->accesses));
	scanner_describe(scanner, between[0].access, 2, between[0].roots[1], VEC_PUSH(&out->accesses));
	scanner_describe(scanner, second->access, 1, between[0].roots[0], VEC_PUSH(&out->accesses));
	for (size_t i = 1; i < n && i < OTHERS_MOST; i++)
		scanner_describe(scanner, between[i].access, 2, between[i].roots[1], VEC_PUSH(&out->others));
	set_locks(scanner, first, second, between, n, out);
	out->parallel = score_parallel(scanner, between[0].roots);
	const char *name = out->accesses.items[0].variable;

	out->variable = memory_string(*name ? name : out->accesses.items[2].variable);
}

/* Was this looked at often enough? Lines in functions that were put into others again and again, accesses that many
 * callers lead to. */
static bool is_tired(struct search *search, uint64_t lines, uint32_t first, uint32_t second)
{
	if (++*map_put(&search->rounds, (uint64_t)first << 32 | second, NULL) <= ROUNDS_MOST &&
	    ++*map_put(&search->tries, lines, NULL) <= TRIES_MOST)
		return false;
	search->out->untried++;
	return true;
}

static void consider(struct search *search, struct events *events, const struct event *first,
		     const struct event *second, uint32_t object, uint32_t offset)
{
	struct scanner *scanner = search->scanner;
	const struct access_at *c = access_of(scanner, second->access);
	struct between between[4 * OTHERS_MOST];
	struct candidate made;
	bool again, fresh;
	uint64_t key =
		(uint64_t)scanner->statement_of[first->access] << 32 | scanner->statement_of[second->access];

	if (first->position == second->position || !events_follow(events, first, second, &again) ||
	    events_one_section(first, second) || is_retry(scanner, c) ||
	    !scanner_types_meet(scanner, access_of(scanner, first->access), c))
		return;
	/* Where nobody knows what is touched, only what hangs together in the text is worth a look. */
	if (c->breadth > ACCESSES_WIDE && events_depend(events, first, second) == INDEPENDENT)
		return;
	if (is_tired(search, key, first->access, second->access))
		return;
	size_t n = find_between(search, first, second, object, offset, between);

	if (!n)
		return;
	uint64_t *old = map_put(&search->seen, key, &fresh);

	if (fresh) {
		*old = search->out->candidates.n + 1;
		make(search, events, first, second, again, between, n, &made);
		*VEC_PUSH(&search->out->candidates) = made;
		return;
	}
	/* The same lines once more: the more suspicious of the two stands for both. */
	struct candidate *kept = &search->out->candidates.items[*old - 1];
	struct candidate quick = { .kind = CANDIDATE_KINDS };

	weigh(search, events, first, second, again, between, &quick);
	if (quick.score <= kept->score)
		return;
	candidate_free(kept);
	make(search, events, first, second, again, between, n, kept);
}

/* ---- pairs of events on one location ---- */

struct place_list {
	uint32_t object, offset;
	VEC(uint32_t) events;
};

static void add_place(struct map *numbers, struct place_list **lists, size_t *n, size_t *room,
		      uint32_t object, uint32_t offset, uint32_t event)
{
	bool fresh;
	uint64_t *number = map_put(numbers, (uint64_t)object << 32 | offset, &fresh);

	if (fresh) {
		*number = *n;
		*lists = memory_grow(*lists, *n, room, sizeof **lists);
		(*lists)[(*n)++] = (struct place_list){ .object = object, .offset = offset };
	}
	*VEC_PUSH(&(*lists)[*number].events) = event;
}

static void search_places(struct search *search, struct events *events, struct place_list *lists, size_t n)
{
	for (size_t l = 0; l < n; l++) {
		for (size_t i = 0; i < lists[l].events.n; i++)
			for (size_t j = 0, near = 0; j < lists[l].events.n && near < NEAR_EVENTS; j++) {
				if (i == j)
					continue;
				consider(search, events, &events->items.items[lists[l].events.items[i]],
					 &events->items.items[lists[l].events.items[j]], lists[l].object,
					 lists[l].offset);
				near += j > i;
			}
		VEC_FREE(&lists[l].events);
	}
}

static void search_function(struct search *search, uint32_t function)
{
	struct scanner *scanner = search->scanner;
	struct events events;
	struct map numbers = { 0 };
	struct place_list *lists = NULL;
	size_t n = 0, room = 0;

	events_start(&events, scanner, function);
	for (uint32_t e = 0; events.items.n > 1 && e < events.items.n; e++) {
		const struct access_at *access = access_of(scanner, events.items.items[e].access);
		if (access->breadth > ACCESSES_WIDE) {
			add_place(&numbers, &lists, &n, &room,
				  accesses_cloud(&scanner->accesses, access->tag), 0, e);
			continue;
		}
		const roaring_bitmap_t *set = points_to(&scanner->points, access->pointer);
		roaring_uint32_iterator_t *at = roaring_create_iterator(set);

		for (int left = PLACES_MOST; left-- && at->has_value; roaring_advance_uint32_iterator(at)) {
			struct solver_location location =
				scanner->points.solver.locations.items[at->current_value];

			if (scanner->accesses.shared[location.object])
				add_place(&numbers, &lists, &n, &room, location.object, location.offset, e);
		}
		roaring_free_uint32_iterator(at);
	}
	search_places(search, &events, lists, n);
	free(lists);
	map_free(&numbers);
	events_free(&events);
}

void atomic_find(struct scanner *scanner, struct scan *out)
{
	struct search search = { .scanner = scanner, .out = out };

	size_t all = scanner->whole.functions.n;

	for (uint32_t f = 0; f < all && scanner_go_on(scanner, out, SCAN_ATOMICITY, f, all); f++)
		if (threads_running(&scanner->threads, f))
			search_function(&search, f);
	map_free(&search.seen);
	map_free(&search.tries);
	map_free(&search.rounds);
}
