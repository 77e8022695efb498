/* What the forced switches of the shortest failing run point at. A thread was stopped,
 * others ran, then it went on: the switch is needed for the failure, so something that
 * the thread did shortly before or does shortly after conflicts with what the others did
 * meanwhile. Conflicts on one location on both sides make a triple, on two locations a
 * couple, on one side only an order. The nearest are told. Compares no runs: it is the
 * weakest claim, good for company and when there is nothing to compare with.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "diagnose/diagnosis.h"

#define WINDOW 400u      /* accesses of the stopped thread on either side that are looked at */
#define GAP_MOST 200000u /* accesses of the others meanwhile */
#define CLAIMS_MOST 3u
#define HALF_FAR 16.0     /* accesses away from the switch at which a claim counts half */
#define ORDER_PENALTY 64u /* one side only explains less */
#define COUPLE_PENALTY 2u

/* An access of the stopped thread and one of the others that conflict. */
struct clash {
	size_t own, other; /* in the trace */
	unsigned far;      /* accesses between the switch and `own` */
	bool missing;      /* the run ended first: `own` is what the thread did the last time round */
};

struct clashes {
	struct clash *items;
	size_t n, room; /* as VEC */
};

struct gap {
	uint32_t thread;
	size_t from, to; /* what the others did; events[to] is the thread's own, if there is one */
};

struct claim {
	size_t steps[4], n;
	bool missing; /* the last step */
	enum finding_class class;
	unsigned scenario, cost;
};

struct claims {
	struct claim *items;
	size_t n, room; /* as VEC */
};

static bool conflict(const struct event *a, const struct event *b)
{
	return a->address == b->address && (a->write || b->write);
}

/* First and last access of the others to each address in the gap, writes apart. */
struct meanwhile {
	struct map first, last, first_write, last_write; /* address to event + 1 */
};

static void look_at_gap(const struct observations *run, const struct gap *gap, struct meanwhile *out)
{
	for (size_t i = gap->from; i < gap->to && i < gap->from + GAP_MOST; i++) {
		const struct event *event = &run->events[i];
		bool fresh;
		uint64_t *place = map_put(&out->first, event->address, &fresh);

		if (fresh)
			*place = i + 1;
		*map_put(&out->last, event->address, NULL) = i + 1;
		if (!event->write)
			continue;
		place = map_put(&out->first_write, event->address, &fresh);
		if (fresh)
			*place = i + 1;
		*map_put(&out->last_write, event->address, NULL) = i + 1;
	}
}

static void meanwhile_free(struct meanwhile *meanwhile)
{
	map_free(&meanwhile->first);
	map_free(&meanwhile->last);
	map_free(&meanwhile->first_write);
	map_free(&meanwhile->last_write);
}

static void add_clash(const struct observations *run, const struct map *all, const struct map *writes,
		      size_t own, unsigned far, struct clashes *out)
{
	const struct event *event = &run->events[own];
	const uint64_t *other = map_get(event->write ? all : writes, event->address);

	for (size_t i = 0; i < out->n; i++) /* the nearest to each address is enough */
		if (run->events[out->items[i].own].address == event->address &&
		    run->events[out->items[i].own].write == event->write)
			return;
	if (other && conflict(event, &run->events[*other - 1]))
		*VEC_PUSH(out) = (struct clash){ .own = own, .other = (size_t)*other - 1, .far = far };
}

/* Where the thread stood before as it does at the beginning of the gap, and went on: behind the
 * same two accesses. The beginning of the gap when it never did. */
static size_t last_time(const struct observations *run, const struct gap *gap)
{
	size_t own[2] = { SIZE_MAX, SIZE_MAX }, later = SIZE_MAX; /* the last two, the last one first */

	for (size_t i = gap->from; i-- > 0;) {
		const struct event *event = &run->events[i];

		if (event->thread != gap->thread)
			continue;
		if (own[0] == SIZE_MAX) {
			own[0] = i;
			continue;
		}
		if (own[1] == SIZE_MAX)
			own[1] = i;
		if (later != SIZE_MAX && event->site == run->events[own[1]].site)
			return later + 1;
		later = event->site == run->events[own[0]].site ? i : SIZE_MAX;
	}
	return gap->from;
}

static void find_clashes(const struct observations *run, const struct gap *gap, struct clashes *before,
			 struct clashes *after)
{
	_cleanup_(meanwhile_free) struct meanwhile meanwhile = { 0 };
	unsigned far = 0;

	look_at_gap(run, gap, &meanwhile);
	for (size_t i = gap->from; i-- > 0 && far < WINDOW;)
		if (run->events[i].thread == gap->thread)
			add_clash(run, &meanwhile.first, &meanwhile.first_write, i, far++, before);
	bool missing = gap->to == run->nevents;
	size_t next = missing ? last_time(run, gap) : gap->to;
	size_t end = missing ? gap->from : run->nevents;

	far = 0;
	for (size_t i = next; i < end && far < WINDOW; i++)
		if (run->events[i].thread == gap->thread)
			add_clash(run, &meanwhile.last, &meanwhile.last_write, i, far++, after);
	for (size_t i = 0; i < after->n; i++)
		after->items[i].missing = missing;
}

/* LOCON's Table 1: W-W-R 4, R-W-W 5, R-W-R 6, W-R-W 7; 0 the others. */
static unsigned triple(bool a, bool b, bool c)
{
	if (b)
		return a ? (c ? 0 : 4) : (c ? 5 : 6);
	return a && c ? 7 : 0;
}

static void add_claim(struct claims *out, struct claim claim)
{
	*VEC_PUSH(out) = claim;
}

/* Two writes of one thread, or two of its reads: what one saw and what it did belong together. */
static void add_couple(const struct clash *x, const struct clash *y, struct claims *out)
{
	bool turned = y->other < x->other;

	add_claim(out, (struct claim){ .steps = { x->own, turned ? y->other : x->other,
						  turned ? x->other : y->other, y->own },
				       .n = x->other == y->other ? 3 : 4,
				       .class = FINDING_MULTI_ATOMICITY,
				       .missing = y->missing,
				       .cost = x->far + y->far + COUPLE_PENALTY });
}

static void pair_up(const struct observations *run, const struct clashes *before, const struct clashes *after,
		    struct claims *out)
{
	const struct event *events = run->events;

	for (size_t i = 0; i < before->n; i++)
		for (size_t j = 0; j < after->n; j++) {
			const struct clash *x = &before->items[i], *y = &after->items[j];

			if (events[x->own].address != events[y->own].address) {
				add_couple(x, y, out);
				continue;
			}
			unsigned scenario =
				triple(events[x->own].write, events[x->other].write, events[y->own].write);

			if (scenario)
				add_claim(out, (struct claim){ .steps = { x->own, x->other, y->own },
							       .n = 3,
							       .class = FINDING_ATOMICITY,
							       .scenario = scenario,
							       .missing = y->missing,
							       .cost = x->far + y->far });
		}
	for (size_t j = 0; j < after->n; j++) {
		const struct clash *y = &after->items[j];
		bool own = events[y->own].write, other = events[y->other].write;

		add_claim(out, (struct claim){ .steps = { y->other, y->own },
					       .n = 2,
					       .class = FINDING_ORDER,
					       .scenario = other ? (own ? 3 : 1) : 2,
					       .missing = y->missing,
					       .cost = 2 * y->far + ORDER_PENALTY });
	}
}

static int by_cost(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return a->steps[0] < b->steps[0] ? -1 : a->steps[0] > b->steps[0];
}

/* The gaps of the forced switches. */
static void look_at_switches(const struct observations *run, const struct schedule *schedule,
			     struct claims *claims)
{
	size_t at = 0;

	for (size_t i = 0; i + 1 < schedule->nturns; i++) {
		const struct schedule_turn *turn = &schedule->turns[i];
		struct clashes before = { 0 }, after = { 0 };
		struct gap gap = { .thread = turn->thread };

		if (turn->wake)
			continue;
		while (at < run->nevents && run->events[at].thread == turn->thread)
			at++;
		if (turn->stop != STOP_PREEMPTED)
			continue;
		gap.from = gap.to = at;
		while (gap.to < run->nevents && run->events[gap.to].thread != turn->thread)
			gap.to++;
		find_clashes(run, &gap, &before, &after);
		pair_up(run, &before, &after, claims);
		VEC_FREE(&before);
		VEC_FREE(&after);
	}
	if (claims->n)
		qsort(claims->items, claims->n, sizeof *claims->items, by_cost);
}

static void tell(const struct diagnosis *diagnosis, const struct claim *claim, struct opinion *opinion)
{
	const struct observations *run = diagnosis->trace.run;
	struct finding *finding = VEC_PUSH(&opinion->findings);

	finding->rank = (unsigned)opinion->findings.n;
	finding->class = claim->class;
	finding->scenario = claim->scenario;
	finding->method = memory_string(opinion->method);
	finding->score = HALF_FAR / (HALF_FAR + (double)claim->cost) - 0.001 * (double)opinion->findings.n;
	finding->run = diagnosis->tally.failure.number;
	finding->runs.failed = 1;
	for (size_t i = 0; i < claim->n; i++) {
		const struct event *event = &run->events[claim->steps[i]];
		struct finding_access *access =
			finding_add_access(&finding->accesses, FINDING_NO_SITE,
					   atlas_number(diagnosis->trace.atlas, event->site));

		access->thread = event->thread;
		access->kind = event->write ? SITE_WRITE : SITE_READ;
		access->missing = claim->missing && i + 1 == claim->n;
		finding_add_variable(finding, access->variable);
	}
	finding->summary = memory_string("these are the conflicting accesses nearest to a switch that the "
					 "failure needs");
	finding->evidence = memory_string("The failure needs a switch of threads at this place.");
}

static struct error *ask_switches(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *reduced = &diagnosis->tally.failure.reduced;
	struct claims claims = { 0 };

	if (!diagnosis->trace.run || !reduced->nturns)
		return NULL;
	look_at_switches(diagnosis->trace.run, reduced, &claims);
	for (size_t i = 0; i < claims.n && i < CLAIMS_MOST; i++)
		tell(diagnosis, &claims.items[i], opinion);
	VEC_FREE(&claims);
	return NULL;
}

const struct method method_switches = {
	.head = { .method = "switches",
		  .words = "the switches that the failure needs",
		  .kind = OPINION_CLAIM,
		  .trust = 0.5 },
	.ask = ask_switches,
};
