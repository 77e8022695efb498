/* Pairs of statements that may touch one location from two threads, one of them
 * writing. Left out, and counted, is only what cannot happen at a time; locks leave
 * nothing out. */
#include <stdlib.h>
#include <string.h>

#include "static/scanner.h"

static bool writes(const struct access_at *access)
{
	return access->kind != SITE_READ;
}

static enum pruned reason(const struct scanner *scanner, uint32_t instruction, uint32_t root, uint32_t other)
{
	const struct root *of = &scanner->threads.roots[other];

	if (of->parent != root)
		return PRUNED_APART;
	return of->beside[instruction] & THREAD_STARTED ? PRUNED_AFTER : PRUNED_BEFORE;
}

static bool apart(const struct scanner *scanner, const struct access_at *a, uint32_t root,
		  const struct access_at *b, uint32_t other)
{
	struct place left, right;

	return place_in_root(&scanner->threads, a->pointer, a->function, root, &left) &&
	       place_in_root(&scanner->threads, b->pointer, b->function, other, &right) &&
	       places_apart(&left, a->size, &right, b->size);
}

#define ROOTS_MOST 4u /* pairs of roots of which the most suspicious is taken */

static bool find_parallel(struct scanner *scanner, uint32_t a, uint32_t b, uint32_t roots[2],
			  enum pruned *why)
{
	const struct threads *threads = &scanner->threads;
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];
	/* Of pointers that lead nearly anywhere the first pair of threads says as much as any. */
	bool wide = left->breadth > ACCESSES_WIDE || right->breadth > ACCESSES_WIDE;
	uint32_t found = 0, most = wide ? 1 : ROOTS_MOST;
	double best = -1;

	*why = PRUNED_ONE_THREAD;
	for (uint32_t r = 0; r < threads->n && found < most; r++)
		for (uint32_t s = 0; s < threads->n && found < most; s++) {
			const uint32_t both[] = { r, s };

			if (!(left->roots >> r & 1) || !(right->roots >> s & 1) ||
			    (r == s && !threads->roots[r].many))
				continue;
			if (apart(scanner, left, r, right, s)) {
				*why = PRUNED_ELSEWHERE;
				continue;
			}
			bool from_left = threads_beside(threads, left->instruction, r, s);

			if (!from_left || !threads_beside(threads, right->instruction, s, r)) {
				*why = from_left ? reason(scanner, right->instruction, s, r)
						 : reason(scanner, left->instruction, r, s);
				continue;
			}
			double worth = wide ? 0 : score_worth(scanner, a, b, both);

			found++;
			if (worth > best) {
				best = worth;
				memcpy(roots, both, sizeof both);
			}
		}
	return found > 0;
}

/* An answer in one word, never 0. */
enum { ANSWER_PARALLEL = 1 << 24, ANSWER_KNOWN = 1 << 25 };

bool pairs_parallel(struct scanner *scanner, uint32_t a, uint32_t b, uint32_t roots[2], enum pruned *why)
{
	uint64_t *known = map_put(&scanner->parallel, (uint64_t)a << 32 | b, NULL);

	if (!*known) {
		roots[0] = roots[1] = 0;
		bool parallel = find_parallel(scanner, a, b, roots, why);

		*known = ANSWER_KNOWN | (parallel ? ANSWER_PARALLEL : 0u) | (uint64_t)*why << 16 |
			 roots[0] << 8 | roots[1];
	}
	uint64_t answer = *known;

	*why = (enum pruned)(answer >> 16 & 0xff);
	roots[0] = answer >> 8 & 0xff;
	roots[1] = answer & 0xff;
	if (scanner->parallel.n > SCANNER_REMEMBERS)
		map_free(&scanner->parallel);
	return answer & ANSWER_PARALLEL;
}

/* ---- collecting ---- */

#define PAIRS_MOST 20000u /* pairs of accesses of one object or cloud that are compared, the clearest first */

struct pairing {
	struct scanner *scanner;
	struct scan *out;
	struct set met;    /* pairs of accesses that were compared */
	struct map seen;   /* pair of statements → candidate + 1 */
	struct map pruned; /* pair of statements → rule + 1 */
};

static uint64_t pair_key(const struct scanner *scanner, uint32_t a, uint32_t b)
{
	uint32_t left = scanner->statement_of[a], right = scanner->statement_of[b];

	return left < right ? (uint64_t)left << 32 | right : (uint64_t)right << 32 | left;
}

static void fill_pair(struct pairing *pairing, uint32_t a, uint32_t b, const uint32_t roots[2],
		      struct candidate *out)
{
	struct scanner *scanner = pairing->scanner;
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];
	bool ordered =
		locks_common(&left->held, &right->held) != WHOLE_NONE || (left->atomic && right->atomic);

	*out = (struct candidate){ .kind = ordered ? CANDIDATE_ORDER : CANDIDATE_RACE };
	score_pair(scanner, a, b, roots, out);
	scanner_describe(scanner, a, 1, roots[0], VEC_PUSH(&out->accesses));
	scanner_describe(scanner, b, 2, roots[1], VEC_PUSH(&out->accesses));
	for (size_t i = 0; i < 2; i++)
		out->accesses.items[i].lock = locks_common(&left->held, &right->held);
	out->parallel = score_parallel(scanner, roots);
	const char *name = out->accesses.items[0].variable;

	out->variable = memory_string(*name ? name : out->accesses.items[1].variable);
}

static void consider(struct pairing *pairing, uint32_t a, uint32_t b)
{
	struct scanner *scanner = pairing->scanner;
	uint64_t key = pair_key(scanner, a, b), *old;
	uint64_t both = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	uint32_t roots[2];
	enum pruned why;

	/* Two that meet in one object often meet in many; what is already known as a race needs no other way. */
	if (!set_add(&pairing->met, &both, 1) ||
	    ((old = map_get(&pairing->seen, key)) &&
	     pairing->out->candidates.items[*old - 1].kind == CANDIDATE_RACE))
		return;
	if (!scanner_types_meet(scanner, &scanner->accesses.items.items[a],
				&scanner->accesses.items.items[b]))
		why = PRUNED_TYPES;
	else if (pairs_parallel(scanner, a, b, roots, &why))
		why = PRUNED_RULES;
	if (why != PRUNED_RULES) {
		bool fresh;
		uint64_t *rule = map_put(&pairing->pruned, key, &fresh);

		if (fresh)
			*rule = why + 1u;
		return;
	}
	if ((old = map_get(&pairing->seen, key))) {
		/* The same lines once more: the more suspicious of the two stands for both. */
		struct candidate other = { 0 };
		struct candidate *kept = &pairing->out->candidates.items[*old - 1];

		fill_pair(pairing, a, b, roots, &other);
		if (other.score > kept->score) {
			struct candidate swap = *kept;

			*kept = other;
			other = swap;
		}
		candidate_free(&other);
		return;
	}
	*map_put(&pairing->seen, key, NULL) = pairing->out->candidates.n + 1;
	struct candidate *made = VEC_PUSH(&pairing->out->candidates);

	fill_pair(pairing, a, b, roots, made);
}

/* The same place together; there, those first of which it is clearest what they touch. */
struct sorting {
	struct touch touch;
	uint32_t breadth;
};

static int by_offset(const void *a, const void *b)
{
	const struct sorting *left = a, *right = b;

	if (left->touch.offset != right->touch.offset)
		return (left->touch.offset > right->touch.offset) -
		       (left->touch.offset < right->touch.offset);
	if (left->breadth != right->breadth)
		return (left->breadth > right->breadth) - (left->breadth < right->breadth);
	return (left->touch.access > right->touch.access) - (left->touch.access < right->touch.access);
}

static void sort_touches(const struct accesses *accesses, struct touch *touches, size_t n)
{
	_cleanup_free_ struct sorting *all = memory_alloc((n + 1) * sizeof *all);

	for (size_t i = 0; i < n; i++)
		all[i] = (struct sorting){ touches[i], accesses->items.items[touches[i].access].breadth };
	qsort(all, n, sizeof *all, by_offset);
	for (size_t i = 0; i < n; i++)
		touches[i] = all[i].touch;
}

/* Whether a touch reaches as far as another offset; an unknown size reaches everything. */
static bool reaches(const struct accesses *accesses, const struct touch *touch, uint32_t offset)
{
	uint32_t size = accesses->items.items[touch->access].size;

	return touch->offset == offset || !size || offset - touch->offset < size;
}

/* Touches of one statement, offset and set of locks say the same. */
static size_t without_repeats(struct scanner *scanner, struct touch *touches, size_t n)
{
	struct map seen = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct access_at *access = &scanner->accesses.items.items[touches[i].access];
		uint32_t parts[3] = { scanner->statement_of[touches[i].access], touches[i].offset,
				      access->size };
		uint64_t key = hash_bytes(HASH_START, parts, sizeof parts);
		bool fresh;

		for (uint32_t h = 0; h < access->held.n; h++)
			key = hash_bytes(key, &access->held.items[h].lock, sizeof access->held.items[h].lock);
		map_put(&seen, hash_bytes(key, &access->roots, sizeof access->roots), &fresh);
		/* Where threads come and go the place in the function matters, not the line alone. */
		if (fresh || (access->roots & 1))
			touches[kept++] = touches[i];
	}
	map_free(&seen);
	return kept;
}

static bool several_threads(const struct scanner *scanner, uint64_t roots)
{
	if (roots & (roots - 1))
		return true;
	for (uint32_t r = 0; r < scanner->threads.n; r++)
		if (roots >> r & 1)
			return scanner->threads.roots[r].many;
	return false;
}

/* In the order of the later of the two, so that a limit leaves out those of which least is known. */
static void pair_touches(struct pairing *pairing, const struct touch *touches, size_t n)
{
	const struct accesses *accesses = &pairing->scanner->accesses;
	uint64_t left = PAIRS_MOST, nwrites = 0, passed_writes = 0;
	size_t from = 0;

	for (size_t j = 0; j < n; j++) {
		bool writer = writes(&accesses->items.items[touches[j].access]);

		/* Those that do not reach this offset reach none of the later ones. */
		for (; from < j && !reaches(accesses, &touches[from], touches[j].offset); from++)
			passed_writes += writes(&accesses->items.items[touches[from].access]);
		nwrites += writer;
		for (size_t i = from; left && i <= j; i++) {
			if (!reaches(accesses, &touches[i], touches[j].offset) ||
			    !(writer || writes(&accesses->items.items[touches[i].access])))
				continue;
			left--;
			consider(pairing, touches[i].access, touches[j].access);
		}
		if (!left)
			pairing->out->unpaired += writer ? j - from + 1 : nwrites - passed_writes;
	}
}

static void pair_object(struct pairing *pairing, uint32_t object)
{
	struct scanner *scanner = pairing->scanner;
	struct accesses *accesses = &scanner->accesses;
	struct touch *touches = accesses->touches[object].items;
	size_t n = accesses->touches[object].n;
	uint64_t roots = 0, nwrites = 0;

	for (size_t i = 0; i < n; i++) {
		roots |= accesses->items.items[touches[i].access].roots;
		nwrites += writes(&accesses->items.items[touches[i].access]);
	}
	if (!nwrites)
		return;
	if (!several_threads(scanner, roots)) {
		pairing->out->pruned[PRUNED_ONE_THREAD] += nwrites * n - nwrites * (nwrites - 1) / 2;
		return;
	}
	sort_touches(accesses, touches, n);
	pair_touches(pairing, touches, without_repeats(scanner, touches, n));
}

void pairs_find(struct scanner *scanner, struct scan *out)
{
	struct pairing pairing = { .scanner = scanner, .out = out };

	size_t all = scanner->points.objects.n + scanner->accesses.nclouds;

	for (uint32_t i = 0; i < all && scanner_go_on(scanner, out, SCAN_PAIRS, i, all); i++)
		pair_object(&pairing, i);
	for (size_t i = 0; i < pairing.pruned.room; i++) {
		const struct map_slot *slot = &pairing.pruned.slots[i];

		if (slot->used && !map_get(&pairing.seen, slot->key))
			out->pruned[slot->value - 1]++;
	}
	set_free(&pairing.met);
	map_free(&pairing.seen);
	map_free(&pairing.pruned);
}
