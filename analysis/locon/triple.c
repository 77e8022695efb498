/* Unserialisable triples: two accesses of one thread to a location, and what others
 * did to it in between. Finds the one that a suspicious pair is half of, and tells
 * by what passing runs allow whether it is a violated atomic region or an order that
 * was turned round.
 */
#include "analysis/locon/explain.h"

bool explain_passed(const struct locon *locon, uint32_t key)
{
	return key != LOCON_NONE && locon->keys.items[key].passed > 0;
}

/* LOCON's four unserialisable triples: 4 W-W-R, 5 R-W-W, 6 R-W-R, 7 W-R-W. */
unsigned explain_triple(const struct pair *ab, const struct pair *bc)
{
	bool a = ab->kind != PAIR_READ_WRITE, b = ab->kind != PAIR_WRITE_READ,
	     c = bc->kind != PAIR_WRITE_READ;

	if (b)
		return a ? (c ? 0 : 4) : (c ? 5 : 6);
	return a && c ? 7 : 0;
}

/* Could passing runs have b after the whole region a..c, and before it? Pairs of
 * the places in question, in the kinds that b's and the other's access make. */
static bool passed_after(const struct locon *locon, const struct pair *ab, const struct pair *bc)
{
	bool b = ab->kind != PAIR_WRITE_READ, c = bc->kind != PAIR_WRITE_READ;
	enum pair_kind kind = c ? (b ? PAIR_WRITE_WRITE : PAIR_WRITE_READ) : PAIR_READ_WRITE;

	uint32_t last = locon_place(locon, bc->tail_site);

	return explain_passed(locon, locon_find(locon, kind, last, locon_place(locon, ab->tail_site))) ||
	       explain_passed(locon, locon_find(locon, kind, last, locon_place(locon, bc->head_site)));
}

static bool passed_before(const struct locon *locon, const struct pair *ab)
{
	bool a = ab->kind != PAIR_READ_WRITE, b = ab->kind != PAIR_WRITE_READ;
	enum pair_kind kind = b ? (a ? PAIR_WRITE_WRITE : PAIR_WRITE_READ) : PAIR_READ_WRITE;

	return explain_passed(locon, locon_find(locon, kind, locon_place(locon, ab->tail_site),
						locon_place(locon, ab->head_site)));
}

struct candidate {
	uint32_t at;
	uint64_t cost; /* smaller is better */
};

/* What stands between a and c: one access b, or the first and the last of several that others
 * made to the location meanwhile. `witnessed`: the run saw both at one moment. */
bool explain_joins(const struct locon *locon, const struct pair *ab, const struct pair *bc, bool witnessed)
{
	bool b = ab->kind != PAIR_WRITE_READ;

	if (ab->tail_thread != bc->head_thread)
		return witnessed && ab->address == bc->address && b == (bc->kind != PAIR_READ_WRITE);
	if (locon_place(locon, ab->tail_site) == locon_place(locon, bc->head_site))
		return true;
	return ab->address == bc->address && (witnessed || ab->tail_order < bc->head_order) &&
	       b == (bc->kind != PAIR_READ_WRITE);
}

/* How well `other` continues `pair` to a-b-c; UINT64_MAX: not at all. An access b
 * that is the same event in both is best; the same places at other times will do. */
static uint64_t triple_cost(const struct locon *locon, const struct pair *pair, const struct pair *other,
			    bool pair_first)
{
	const struct pair *ab = pair_first ? pair : other, *bc = pair_first ? other : pair;

	if (!locon_opposed(ab, bc) || !explain_triple(ab, bc) || !explain_joins(locon, ab, bc, false))
		return UINT64_MAX;
	uint64_t cost = ab->tail_order == bc->head_order && ab->address == bc->address ? 0 : 1000000;

	if (ab->address != bc->address)
		cost += 1000000;
	if (bc->tail_order > ab->head_order)
		cost += bc->tail_order - ab->head_order;
	else
		cost += 4000000;
	return cost;
}

/* Passing runs have b before a and after c: then the two belong together, and b does not. */
static bool is_region(const struct locon *locon, const struct pair *ab, const struct pair *bc)
{
	return passed_after(locon, ab, bc) && passed_before(locon, ab);
}

/* A triple whose orders fit, around which passing runs have a region; the thread may have
 * come to the location before c, so that it is no couple. */
static uint32_t find_exact(const struct locon *locon, uint32_t at, bool *first)
{
	const struct locon_run *failed = &locon->input->failed;
	const struct pair *pair = &failed->pairs[at];

	for (size_t i = 0; i < failed->npairs; i++) {
		const struct pair *other = &failed->pairs[i];

		if (i == at || !locon_opposed(pair, other) || pair->address != other->address)
			continue;
		for (int half = 0; half < 2; half++) {
			const struct pair *ab = half ? other : pair, *bc = half ? pair : other;

			if (bc->head_order < ab->tail_order || bc->tail_order <= ab->head_order ||
			    !explain_joins(locon, ab, bc, false) || !explain_triple(ab, bc) ||
			    !is_region(locon, ab, bc))
				continue;
			*first = !half;
			return (uint32_t)i;
		}
	}
	return LOCON_NONE;
}

bool explain_crossed(const struct couple *couple, const struct pair *first, const struct pair *second)
{
	return couple->crossed && first->tail_thread == second->head_thread;
}

/* The triple that the run itself saw at one moment, if it recorded such. */
static uint32_t find_witnessed(const struct locon *locon, uint32_t at, bool *first)
{
	const struct locon_run *failed = &locon->input->failed;
	struct candidate best = { LOCON_NONE, UINT64_MAX };

	for (size_t i = 0; i < failed->ncouples; i++) {
		const struct couple *couple = &failed->couples[i];
		const struct pair *ab = &failed->pairs[couple->first], *bc = &failed->pairs[couple->second];

		if ((couple->first != at && couple->second != at) || explain_crossed(couple, ab, bc) ||
		    ab->head_thread != bc->tail_thread || !explain_triple(ab, bc) ||
		    !explain_joins(locon, ab, bc, true))
			continue;
		uint64_t cost = couple->span + (is_region(locon, ab, bc) ? 0 : UINT32_MAX) +
				(ab->address == bc->address ? 0 : UINT32_MAX / 2);

		if (cost < best.cost) {
			best = (struct candidate){ couple->first == at ? couple->second : couple->first,
						   cost };
			*first = couple->first == at;
		}
	}
	return best.at;
}

/* The pair of the failed run that makes a triple with `at`; `*first` when `at` is its first half. */
static uint32_t find_triple(const struct locon *locon, uint32_t at, bool *first)
{
	const struct locon_run *failed = &locon->input->failed;
	struct candidate best = { LOCON_NONE, UINT64_MAX };

	if (failed->ncouples) {
		bool half = false;
		uint32_t witnessed = find_witnessed(locon, at, &half);
		uint32_t exact = find_exact(locon, at, first);

		if (exact != LOCON_NONE)
			return exact;
		*first = half;
		return witnessed;
	}
	for (size_t i = 0; i < failed->npairs; i++) {
		if (i == at)
			continue;
		for (int half = 0; half < 2; half++) {
			uint64_t cost = triple_cost(locon, &failed->pairs[at], &failed->pairs[i], half == 0);

			if (cost < best.cost) {
				best = (struct candidate){ (uint32_t)i, cost };
				*first = half == 0;
			}
		}
	}
	return best.at;
}

/* The three accesses as one moment, b once; a first occurrence that does not fit loses its order. */
static void add_triple(const struct pair *ab, const struct pair *bc, bool same_place,
		       struct explain_pattern *out)
{
	struct pair last = *bc;
	bool fits = bc->tail_order > ab->head_order;

	if (same_place) {
		last.head_site = ab->tail_site;
		last.head_order = ab->tail_order;
	}
	if (!fits)
		last.tail_order = 0;
	explain_add(out, ab);
	explain_add(out, &last);
	if (fits) /* else they stand in the right order already */
		explain_sort(out);
}

/* Does a thread that does one's part do the other's too? Then neither is meant to be first. */
static bool run_same_code(const struct locon *locon, const struct pair *ab, const struct pair *bc)
{
	uint32_t a = locon_place(locon, ab->head_site), b = locon_place(locon, ab->tail_site),
		 c = locon_place(locon, bc->tail_site);

	return b == c || (a != c && locon_share_thread(locon, a, b) && locon_share_thread(locon, c, b));
}

/* Tells a triple from an order violation by what passing runs allow. */
bool explain_try_triple(const struct locon *locon, uint32_t at, struct explain_pattern *out)
{
	const struct pair *pairs = locon->input->failed.pairs;
	bool first = false;
	uint32_t other = find_triple(locon, at, &first);

	if (other == LOCON_NONE)
		return false;
	const struct pair *ab = &pairs[first ? at : other], *bc = &pairs[first ? other : at];
	bool after = passed_after(locon, ab, bc), before = passed_before(locon, ab);
	/* Where the first thread does itself what the other did in between, both run the same code
	 * and neither is to be first: only the two regions must not overlap. */
	bool alike = run_same_code(locon, ab, bc);

	/* What the run saw at one moment needs no orders: those are of first occurrences. */
	if (alike && (locon->input->failed.ncouples || bc->tail_order > ab->head_order))
		before = after = true;
	if (before && !after) { /* b always comes first: a before b is the fault */
		explain_order(out, ab);
		return true;
	}
	if (after && !before) { /* b always comes last: b before c is */
		explain_order(out, bc);
		return true;
	}
	if (!locon->input->failed.ncouples && bc->tail_order <= ab->head_order && !(after && before))
		return false;
	*out = (struct explain_pattern){ .class = FINDING_ATOMICITY, .scenario = explain_triple(ab, bc) };
	add_triple(ab, bc, locon_place(locon, ab->tail_site) == locon_place(locon, bc->head_site), out);
	return true;
}
