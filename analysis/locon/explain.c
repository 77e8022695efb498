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

/* Do passing runs show the pair turned round? */
static bool passed_reversed(const struct locon *locon, uint32_t at)
{
	return explain_passed(locon, locon_reversed(locon, locon_key_of_failed(locon, at)));
}

static unsigned order_scenario(enum pair_kind kind)
{
	return kind == PAIR_WRITE_READ ? 1 : kind == PAIR_READ_WRITE ? 2 : 3;
}

void explain_order(struct explain_pattern *out, const struct pair *pair)
{
	*out = (struct explain_pattern){ .class = FINDING_ORDER, .scenario = order_scenario(pair->kind) };
	explain_add(out, pair);
	explain_sort(out);
}

struct candidate {
	uint32_t at;
	uint64_t cost; /* smaller is better */
};

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

		if (span < best.cost && explain_passed(locon, locon_key_of_failed(locon, i)) &&
		    passed_reversed(locon, (uint32_t)i))
			best = (struct candidate){ (uint32_t)i, span };
	}
	return best.at;
}

void explain_suspect(const struct locon *locon, uint32_t at, struct explain_pattern *out)
{
	const struct pair *pairs = locon->input->failed.pairs;
	uint32_t couple = find_couple(locon, at);
	uint32_t reversed = locon_reversed(locon, locon_key_of_failed(locon, at));
	bool always = reversed != LOCON_NONE && locon->keys.items[reversed].passed == locon->input->npassed;

	if (explain_freed(locon, at, out))
		return;
	if (explain_try_triple(locon, at, out) && out->class == FINDING_ATOMICITY)
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
		explain_order(out, &pairs[at]);
}

/* Who read too early may have been let in by something that the other thread had done already, as the
 * first half of what it had not finished: the last that it read of such threads, if passing runs have
 * that either way round (else it only tells that the one thread began after the other). */
static uint32_t let_in_by(const struct locon *locon, const struct pair *turned)
{
	const struct locon_run *failed = &locon->input->failed;
	uint32_t last = LOCON_NONE;

	for (size_t i = 0; i < failed->npairs; i++) {
		const struct pair *pair = &failed->pairs[i];

		if (pair->kind == PAIR_WRITE_READ && pair->tail_thread == turned->head_thread &&
		    locon_share_thread(locon, locon_place(locon, pair->head_site),
				       locon_place(locon, turned->tail_site)) &&
		    (last == LOCON_NONE || pair->tail_order > failed->pairs[last].tail_order))
			last = (uint32_t)i;
	}
	return last != LOCON_NONE && passed_reversed(locon, last) ? last : LOCON_NONE;
}

void explain_missing(const struct locon *locon, const struct locon_missing *missing,
		     struct explain_pattern *out)
{
	const struct locon_key *key = &locon->keys.items[missing->key];
	const struct pair_identity *pair = &locon->input->pairs[key->sample];

	if (missing->order != LOCON_NONE)
		pair = &locon->input->pairs[locon->input->reference[missing->order]];
	/* Turned round; the reference run's orders mean nothing in the failed one. */
	struct pair turned = {
		.kind = key->kind == PAIR_WRITE_READ   ? PAIR_READ_WRITE
			: key->kind == PAIR_READ_WRITE ? PAIR_WRITE_READ
						       : PAIR_WRITE_WRITE,
		.head_site = pair->tail_site,
		.tail_site = pair->head_site,
		.head_thread = pair->tail_thread,
		.tail_thread = pair->head_thread,
	};

	uint32_t at = missing->partner != LOCON_NONE ? locon->keys.items[missing->partner].first
						     : let_in_by(locon, &turned);

	*out = (struct explain_pattern){ .class = FINDING_ORDER, .scenario = order_scenario(turned.kind) };
	if (at != LOCON_NONE) {
		const struct pair *partner = &locon->input->failed.pairs[at];

		if (missing->partner == LOCON_NONE)
			turned.tail_thread = partner->head_thread;
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

/* The second value is an old one: its own next write had to come first, and never came. */
static void explain_stale(const struct locon *locon, const struct locon_couple *couple,
			  struct explain_pattern *out)
{
	const struct pair *first = &locon->input->failed.pairs[couple->first];
	const struct pair *second = &locon->input->failed.pairs[couple->second];
	const struct pair turned = {
		.kind = PAIR_READ_WRITE,
		.head_site = second->tail_site,
		.tail_site = second->head_site,
		.head_thread = second->tail_thread,
		.tail_thread = second->head_thread,
		.head_order = second->tail_order,
		.address = second->address,
	};
	uint32_t key = locon_reversed(locon, locon_key_of_failed(locon, couple->second));

	*out = (struct explain_pattern){ .class = FINDING_MULTI_ATOMICITY,
					 .scenario =
						 explain_kinds_scenario(first->kind, turned.kind, false) };
	explain_add(out, first);
	explain_add(out, &turned);
	out->events[out->pairs[1].tail].missing =
		key == LOCON_NONE || locon->keys.items[key].first == LOCON_NONE;
	explain_sort(out);
}

static bool is_signal(const struct locon *locon, const struct pair *pair)
{
	return pair->kind != PAIR_READ_WRITE && LOCON_IN(locon, atomic, pair->head_site) &&
	       LOCON_IN(locon, atomic, pair->tail_site);
}

/* A thread says by an atomic variable that it is ready, another sees it and goes on to plain data that
 * the first has not dealt with yet: the two variables are not one thing, the data came too late. */
static const struct pair *ordered_data(const struct locon *locon, const struct pair *first,
				       const struct pair *second)
{
	if (first->tail_thread != second->head_thread || !is_signal(locon, first) ||
	    LOCON_IN(locon, atomic, second->head_site) || LOCON_IN(locon, atomic, second->tail_site))
		return NULL;
	return second;
}

void explain_couples(const struct locon *locon, const struct locon_couples *couples, size_t from, bool *taken,
		     struct explain_pattern *out)
{
	const struct pair *pairs = locon->input->failed.pairs;
	const struct locon_couple *lead = &couples->items[from];
	const struct pair *first = &pairs[lead->first], *second = &pairs[lead->second];
	if (lead->stale) {
		taken[from] = true;
		explain_stale(locon, lead, out);
		return;
	}
	if (ordered_data(locon, first, second)) {
		taken[from] = true;
		explain_order(out, second);
		return;
	}
	/* With two other threads it says something else (struct couple). */
	bool crossed = lead->crossed && first->tail_thread == second->head_thread;
	bool joined =
		locon_place(locon, first->tail_site) == locon_place(locon, second->head_site) ||
		(first->address == second->address && explain_joins(locon, first, second, lead->moment));
	bool triple = (lead->moment || first->address == second->address) && joined &&
		      explain_triple(first, second);

	*out = (struct explain_pattern){
		.class = triple ? FINDING_ATOMICITY : FINDING_MULTI_ATOMICITY,
		.scenario = triple         ? explain_triple(first, second)
			    : lead->moment ? explain_kinds_scenario(first->kind, second->kind, crossed)
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
		sort_moment(out, crossed);
	else
		explain_sort(out);
}
