/* Completes what a procedure found to the whole interleaving: a pair that only
 * the failed run shows is seldom all of it. Two accesses of one thread with one
 * of another in between, or a second pair the other way on another variable,
 * make it an atomicity violation; nothing of the kind, an order violation.
 */
#include "analysis/locon/explain.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 8u /* that a person wants to see at once */
#define NEAR 64u       /* accesses between the parts of one atomic region, in both threads together */

static bool passed_shows(const struct locon *locon, uint32_t key)
{
	return key != LOCON_NONE && locon->keys.items[key].passed > 0;
}

/* Do passing runs show the pair turned round? */
static bool passed_reversed(const struct locon *locon, uint32_t at)
{
	return passed_shows(locon, locon_reversed(locon, locon_key_of_failed(locon, at)));
}

/* LOCON's four unserialisable triples: 4 W-W-R, 5 R-W-W, 6 R-W-R, 7 W-R-W. */
static unsigned triple_scenario(const struct pair *ab, const struct pair *bc)
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

	return passed_shows(locon, locon_find(locon, kind, last, locon_place(locon, ab->tail_site))) ||
	       passed_shows(locon, locon_find(locon, kind, last, locon_place(locon, bc->head_site)));
}

static bool passed_before(const struct locon *locon, const struct pair *ab)
{
	bool a = ab->kind != PAIR_READ_WRITE, b = ab->kind != PAIR_WRITE_READ;
	enum pair_kind kind = b ? (a ? PAIR_WRITE_WRITE : PAIR_WRITE_READ) : PAIR_READ_WRITE;

	return passed_shows(locon, locon_find(locon, kind, locon_place(locon, ab->tail_site),
					      locon_place(locon, ab->head_site)));
}

struct candidate {
	uint32_t at;
	uint64_t cost; /* smaller is better */
};

/* What stands between a and c: one access b, or the first and the last of several that others
 * made to the location meanwhile. `witnessed`: the run saw both at one moment. */
static bool joins(const struct locon *locon, const struct pair *ab, const struct pair *bc, bool witnessed)
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

	if (!locon_opposed(ab, bc) || !triple_scenario(ab, bc) || !joins(locon, ab, bc, false))
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
			    !joins(locon, ab, bc, false) || !triple_scenario(ab, bc) ||
			    !is_region(locon, ab, bc))
				continue;
			*first = !half;
			return (uint32_t)i;
		}
	}
	return LOCON_NONE;
}

/* The triple that the run itself saw at one moment, if it recorded such. */
static uint32_t find_witnessed(const struct locon *locon, uint32_t at, bool *first)
{
	const struct locon_run *failed = &locon->input->failed;
	struct candidate best = { LOCON_NONE, UINT64_MAX };

	for (size_t i = 0; i < failed->ncouples; i++) {
		const struct couple *couple = &failed->couples[i];
		const struct pair *ab = &failed->pairs[couple->first], *bc = &failed->pairs[couple->second];

		if ((couple->first != at && couple->second != at) || couple->crossed ||
		    ab->head_thread != bc->tail_thread || !triple_scenario(ab, bc) ||
		    !joins(locon, ab, bc, true))
			continue;
		uint64_t cost = couple->span + (is_region(locon, ab, bc) ? 0 : UINT32_MAX);

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

/* A pair on another location that closes a circle with `at`, near to it, and that
 * passing runs have both ways round, as they would if either thread may be first. */
static uint32_t find_couple(const struct locon *locon, uint32_t at)
{
	const struct locon_run *failed = &locon->input->failed;
	const struct pair *pair = &failed->pairs[at];
	struct candidate best = { LOCON_NONE, NEAR + 1 };

	for (size_t i = 0; i < failed->npairs; i++) {
		const struct pair *other = &failed->pairs[i];

		if (!locon_opposed(pair, other) || pair->address == other->address)
			continue;
		uint64_t span = locon_span(pair, other);

		if (span < best.cost && passed_shows(locon, locon_key_of_failed(locon, i)) &&
		    passed_reversed(locon, (uint32_t)i))
			best = (struct candidate){ (uint32_t)i, span };
	}
	return best.at;
}

static unsigned order_scenario(enum pair_kind kind)
{
	return kind == PAIR_WRITE_READ ? 1 : kind == PAIR_READ_WRITE ? 2 : 3;
}

static void be_order(struct explain_pattern *out, const struct pair *pair)
{
	*out = (struct explain_pattern){ .class = FINDING_ORDER, .scenario = order_scenario(pair->kind) };
	explain_add(out, pair);
	explain_sort(out);
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
static bool try_triple(const struct locon *locon, uint32_t at, struct explain_pattern *out)
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
		be_order(out, ab);
		return true;
	}
	if (after && !before) { /* b always comes last: b before c is */
		be_order(out, bc);
		return true;
	}
	if (!locon->input->failed.ncouples && bc->tail_order <= ab->head_order && !(after && before))
		return false;
	*out = (struct explain_pattern){ .class = FINDING_ATOMICITY, .scenario = triple_scenario(ab, bc) };
	add_triple(ab, bc, locon_place(locon, ab->tail_site) == locon_place(locon, bc->head_site), out);
	return true;
}

void explain_suspect(const struct locon *locon, uint32_t at, struct explain_pattern *out)
{
	const struct pair *pairs = locon->input->failed.pairs;
	uint32_t couple = find_couple(locon, at);
	uint32_t reversed = locon_reversed(locon, locon_key_of_failed(locon, at));
	bool always = reversed != LOCON_NONE && locon->keys.items[reversed].passed == locon->input->npassed;

	if (try_triple(locon, at, out) && out->class == FINDING_ATOMICITY)
		return;
	if (couple != LOCON_NONE && !always) {
		const struct pair *one = &pairs[at], *two = &pairs[couple];
		bool turn = two->tail_order < one->head_order;

		*out = (struct explain_pattern){ .class = FINDING_MULTI_ATOMICITY };
		out->scenario = turn ? explain_couple_scenario(two, one) : explain_couple_scenario(one, two);
		explain_add(out, turn ? two : one);
		explain_add(out, turn ? one : two);
		explain_sort(out);
		return;
	}
	if (!out->nevents)
		be_order(out, &pairs[at]);
}

void explain_missing(const struct locon *locon, const struct locon_missing *missing,
		     struct explain_pattern *out)
{
	const struct locon_key *key = &locon->keys.items[missing->key];
	const struct pair *pair = &locon->input->pairs[key->sample];
	const struct locon_run *reference = &locon->input->reference;

	if (missing->order != LOCON_NONE)
		pair = &reference->pairs[missing->order];
	/* Turned round; the reference run's orders mean nothing in the failed one. */
	const struct pair turned = {
		.kind = key->kind == PAIR_WRITE_READ   ? PAIR_READ_WRITE
			: key->kind == PAIR_READ_WRITE ? PAIR_WRITE_READ
						       : PAIR_WRITE_WRITE,
		.head_site = pair->tail_site,
		.tail_site = pair->head_site,
		.head_thread = pair->tail_thread,
		.tail_thread = pair->head_thread,
		.address = pair->address,
	};

	*out = (struct explain_pattern){ .class = FINDING_ORDER, .scenario = order_scenario(turned.kind) };
	if (missing->partner != LOCON_NONE) {
		const struct pair *partner =
			&locon->input->failed.pairs[locon->keys.items[missing->partner].first];

		out->class = FINDING_MULTI_ATOMICITY;
		out->scenario = explain_couple_scenario(partner, &turned);
		explain_add(out, partner);
	}
	explain_add(out, &turned);
	out->events[out->pairs[out->npairs - 1].tail].missing = missing->cut_off;
	explain_sort(out);
}

/* Has another couple a pair of the lead's, in the same threads? Then it tells of a
 * third variable of the same region. */
static bool belongs(const struct locon *locon, const struct locon_couple *lead,
		    const struct locon_couple *other)
{
	const struct pair *pairs = locon->input->failed.pairs;
	const struct pair *first = &pairs[lead->first], *second = &pairs[lead->second];

	return (other->first == lead->first && pairs[other->second].head_thread == second->head_thread) ||
	       (other->second == lead->second && pairs[other->first].tail_thread == first->tail_thread);
}

/* A moment's accesses: the thread's first ones, what others made of them, what others
 * did next, and how the thread followed that up. First occurrences were at other times:
 * their orders only tell which comes first within one of the four. */
static void sort_moment(struct explain_pattern *out, bool crossed)
{
	uint8_t part[EXPLAIN_EVENTS];
	struct explain_event sorted[EXPLAIN_EVENTS];
	bool done[EXPLAIN_EVENTS] = { false };

	for (size_t i = 0; i < out->npairs; i++) {
		bool second = i % 2;

		part[out->pairs[i].head] = second ? (crossed ? 1 : 2) : 0;
		part[out->pairs[i].tail] = second ? 3 : (crossed ? 2 : 1);
	}
	for (size_t n = 0; n < out->nevents; n++) {
		size_t next = SIZE_MAX;

		for (size_t i = 0; i < out->nevents; i++)
			if (!done[i] &&
			    (next == SIZE_MAX || part[i] < part[next] ||
			     (part[i] == part[next] && out->events[i].order < out->events[next].order)))
				next = i;
		done[next] = true;
		sorted[n] = out->events[next];
		sorted[n].order = 0;
	}
	memcpy(out->events, sorted, out->nevents * sizeof *sorted);
	out->npairs = 0; /* they name events by their old places */
}

void explain_couples(const struct locon *locon, const struct locon_couples *couples, size_t from, bool *taken,
		     struct explain_pattern *out)
{
	const struct pair *pairs = locon->input->failed.pairs;
	const struct locon_couple *lead = &couples->items[from];
	const struct pair *first = &pairs[lead->first], *second = &pairs[lead->second];
	bool triple = (lead->moment || first->address == second->address) && triple_scenario(first, second) &&
		      locon_place(locon, first->tail_site) == locon_place(locon, second->head_site);

	*out = (struct explain_pattern){
		.class = triple ? FINDING_ATOMICITY : FINDING_MULTI_ATOMICITY,
		.scenario = triple         ? triple_scenario(first, second)
			    : lead->moment ? explain_kinds_scenario(first->kind, second->kind, lead->crossed)
					   : explain_couple_scenario(first, second),
	};
	for (size_t i = from; i < couples->n; i++) {
		const struct locon_couple *couple = &couples->items[i];

		if (taken[i] || (i != from && !belongs(locon, lead, couple)))
			continue;
		taken[i] = true;
		/* The finding shows the lead, and other variables of the same moment while there is room. */
		if (i == from ||
		    (!triple && out->nevents + 2 <= MOST_EVENTS && couple->crossed == lead->crossed)) {
			explain_add(out, &pairs[couple->first]);
			explain_add(out, &pairs[couple->second]);
		}
	}
	if (lead->moment)
		sort_moment(out, lead->crossed);
	else
		explain_sort(out);
}
