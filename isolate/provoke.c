/* A failing run by force. Schedules by chance seldom come between two accesses that are
 * close together. The trace of a run that passed tells where another thread could have
 * come: between two accesses of a thread to one location in a way that cannot be put one
 * after the other, or with its write after a read that it had come before. Each such
 * interleaving is forced, the closest first, until one fails. */
#include "isolate/isolate.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "diagnose/claim_build.h"
#include "loom/reduce.h"
#include "loom/steer.h"
#include "loom/watch.h"

#define REMOTE_MOST 6u /* accesses of one location that are kept as what may come between */
#define CANDIDATES_MOST 400u
#define WAIT_S 0.1

struct remote {
	size_t events[REMOTE_MOST];
	uint32_t n;
};

struct candidate {
	enum claim_kind kind;
	size_t events[3], n;
	size_t span; /* events between the first and the last of its thread */
};

struct provocation {
	const struct isolate_options *options;
	struct isolation *out;
	const struct observations *trace;
	struct atlas atlas;
	struct map locations; /* address to the number of its remote + 1 */
	VEC(struct remote) remotes;
	struct map known; /* candidates by their sites */
	VEC(struct candidate) candidates;
	uint64_t attempts;
};

static void provocation_free(struct provocation *provocation)
{
	map_free(&provocation->locations);
	map_free(&provocation->known);
	VEC_FREE(&provocation->remotes);
	VEC_FREE(&provocation->candidates);
	atlas_free(&provocation->atlas);
}

/* One access of each site and thread. */
static void collect_remotes(struct provocation *p)
{
	for (size_t i = 0; i < p->trace->nevents; i++) {
		const struct event *event = &p->trace->events[i];
		bool fresh;
		uint64_t *number = map_put(&p->locations, event->address, &fresh);

		if (fresh) {
			*VEC_PUSH(&p->remotes) = (struct remote){ 0 };
			*number = p->remotes.n;
		}
		struct remote *remote = &p->remotes.items[*number - 1];
		bool known = false;

		for (uint32_t j = 0; j < remote->n; j++) {
			const struct event *other = &p->trace->events[remote->events[j]];

			known |= other->site == event->site && other->thread == event->thread &&
				 other->write == event->write;
		}
		if (!known && remote->n < REMOTE_MOST)
			remote->events[remote->n++] = i;
	}
}

static void add_candidate(struct provocation *p, struct candidate candidate)
{
	uint64_t key = candidate.kind;
	bool fresh;

	for (size_t i = 0; i < candidate.n; i++)
		key = key * 0x9e3779b97f4a7c15u + p->trace->events[candidate.events[i]].site * 2 +
		      p->trace->events[candidate.events[i]].write;
	map_put(&p->known, key, &fresh);
	if (fresh && p->candidates.n < CANDIDATES_MOST)
		*VEC_PUSH(&p->candidates) = candidate;
}

/* AVIO's four: what comes between changes what the thread sees or what it is seen to do. */
static bool is_unserialisable(const struct event *first, const struct event *between,
			      const struct event *last)
{
	if (!between->write)
		return first->write && last->write;
	return !(first->write && last->write);
}

static const struct remote *remote_of(const struct provocation *p, uint64_t address)
{
	const uint64_t *number = map_get(&p->locations, address);

	return number ? &p->remotes.items[*number - 1] : NULL;
}

/* Everything that may come between event `first` and event `last` of a thread, or only before `last`. */
static void propose_at(struct provocation *p, size_t first, size_t last)
{
	const struct event *event = &p->trace->events[last];
	const struct remote *remote = remote_of(p, event->address);

	for (uint32_t i = 0; remote && i < remote->n; i++) {
		size_t at = remote->events[i];
		const struct event *other = &p->trace->events[at];

		if (other->thread == event->thread)
			continue;
		if (first != SIZE_MAX && is_unserialisable(&p->trace->events[first], other, event))
			add_candidate(p, (struct candidate){ .kind = CLAIM_ATOMIC,
							     .events = { first, at, last },
							     .n = 3,
							     .span = last - first });
		/* A write that came before a read: the read could have been first. */
		if (other->write && !event->write && at < last && !claim_is_ordered(p->trace, at, last))
			add_candidate(p, (struct candidate){ .kind = CLAIM_ORDER,
							     .events = { last, at },
							     .n = 2,
							     .span = last - at });
	}
}

static void propose(struct provocation *p)
{
	struct map latest = { 0 }; /* address and thread to the last event + 1 */

	for (size_t i = 0; i < p->trace->nevents; i++) {
		const struct event *event = &p->trace->events[i];
		uint64_t *last = map_put(&latest, event->address ^ (uint64_t)event->thread << 48, NULL);

		if (remote_of(p, event->address)->n > 1)
			propose_at(p, *last ? *last - 1 : SIZE_MAX, i);
		*last = i + 1;
	}
	map_free(&latest);
}

static int by_span(const void *a, const void *b)
{
	size_t x = ((const struct candidate *)a)->span, y = ((const struct candidate *)b)->span;

	return (x > y) - (x < y);
}

/* Sites of the claim are points of the run by themselves, so that its schedule leads there without the claim. */
static struct point_sites *sites_of(const struct claim *claim)
{
	uint64_t ids[CLAIM_STEPS * CLAIM_SITES];
	size_t n = 0;

	for (uint32_t i = 0; i < claim->nsteps; i++)
		for (uint32_t j = 0; j < claim->steps[i].nsites; j++)
			ids[n++] = claim->steps[i].sites[j];
	return point_sites_new(ids, n, false);
}

static struct error *give(struct provocation *p, struct steer *steer, const struct candidate *candidate)
{
	struct steer_order order = { .index = p->attempts,
				     .seed = p->options->seed + p->attempts,
				     .light = true,
				     .policy = p->attempts % 2 ? SCHEDULE_RANDOM : SCHEDULE_STAY };
	struct claim_parts parts = { 0 };

	p->attempts++;
	for (size_t i = 0; i < candidate->n; i++)
		parts.items[parts.n++] = claim_part_of(p->trace, &p->atlas, candidate->events[i]);
	if (!claim_build(p->trace, &p->atlas, candidate->kind, &parts, &order.claim))
		return NULL;
	order.claim.use = CLAIM_FORCE;
	order.claim.steps[0].occurrence = 1; /* any time will do */
	order.sites = sites_of(&order.claim);
	return steer_give(steer, &order);
}

/* The same without the claim: who was held at an access had passed the point but not done the access. */
static void forget_claim(struct provocation *p, struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->nturns; i++) {
		struct schedule_turn *turn = &schedule->turns[i];
		const struct site *site = turn->site ? atlas_find(&p->atlas, turn->site) : NULL;
		size_t next = i + 1;

		if (turn->wake || turn->stop != STOP_BLOCKED || !turn->points || !site ||
		    site->kind == SITE_SYNC)
			continue;
		while (next < schedule->nturns &&
		       (schedule->turns[next].wake || schedule->turns[next].thread != turn->thread))
			next++;
		turn->points--;
		turn->stop = STOP_PREEMPTED;
		if (next < schedule->nturns)
			schedule->turns[next].points++;
	}
	free(schedule->claim);
	schedule->claim = NULL;
}

/* Does the schedule lead to the failure by itself? The others that were given are taken meanwhile. */
static struct error *check_plain(struct provocation *p, struct steer *steer, struct run *run,
				 struct run *failed)
{
	uint64_t index = p->attempts++;
	struct steer_order order = { .index = index,
				     .seed = run->schedule.seed,
				     .light = true,
				     .policy = SCHEDULE_STAY,
				     .sites = point_sites_of(&run->schedule) };

	order.plan = memory_alloc((run->schedule.nturns + 1) * sizeof *order.plan);
	order.nplan = reduce_plan(&run->schedule, false, order.plan);
	TRY(steer_give(steer, &order));
	for (bool done = false; !done && steer_pending(steer);) {
		struct steer_report report = { 0 };
		bool got = false;

		TRY(steer_take(steer, WAIT_S, &report, &got));
		p->out->runs.hunt += got;
		done = got && report.index == index;
		if (done && isolate_fails(p->options, report.outcome, report.label)) {
			*failed = *run;
			*run = (struct run){ 0 };
		}
		steer_report_free(&report);
		done |= p->options->stop && p->options->stop();
	}
	return NULL;
}

static struct error *take(struct provocation *p, struct steer *steer, struct run *failed)
{
	struct steer_report report = { 0 };
	struct error *error = NULL;
	bool got = false;

	TRY(steer_take(steer, WAIT_S, &report, &got));
	p->out->runs.hunt += got;
	if (got && report.harvested && isolate_fails(p->options, report.outcome, report.label) &&
	    report.run.schedule.nturns) {
		forget_claim(p, &report.run.schedule);
		error = check_plain(p, steer, &report.run, failed);
	}
	steer_report_free(&report);
	return error;
}

/* What is forced may come at another time of the program: each gets several chances. */
static struct error *force_all(struct provocation *p, struct steer *steer, double until, struct run *failed)
{
	size_t next = 0;

	while (!failed->schedule.nturns && watch_now() < until && !(p->options->stop && p->options->stop()) &&
	       !(p->options->hunt_most && p->out->runs.hunt >= 2 * p->options->hunt_most)) {
		for (size_t i = 0; i < p->candidates.n && steer_pending(steer) < 2 * p->options->jobs; i++)
			TRY(give(p, steer, &p->candidates.items[next++ % p->candidates.n]));
		if (!steer_pending(steer))
			return NULL;
		TRY(take(p, steer, failed));
	}
	return NULL;
}

struct error *isolate_provoke(const struct isolate_options *options, struct isolation *out, double until,
			      struct run *failed)
{
	_cleanup_(provocation_free) struct provocation p = { .options = options,
							     .out = out,
							     .trace = &out->original.observations };
	struct steer *steer = NULL;

	atlas_read(&p.atlas, p.trace);
	collect_remotes(&p);
	propose(&p);
	if (!p.candidates.n)
		return NULL;
	qsort(p.candidates.items, p.candidates.n, sizeof *p.candidates.items, by_span);
	TRY(steer_start(options->launch, options->jobs, &steer));
	struct error *error = force_all(&p, steer, until, failed);

	steer_stop(steer);
	return error;
}
