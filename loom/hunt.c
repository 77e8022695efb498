/* Rounds: while one is being run the next one already waits, so that workers
 * never idle; results are learnt and handed out in the order of the schedules,
 * and the round after that is chosen when the first is complete. Hence every
 * choice is the same for any number of workers and any luck in their timing.
 */
#include "loom/hunt.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "loom/watch.h"

#define ROUNDS 2    /* in work at once */
#define DRAIN_S 0.5 /* for what is still in work when nobody wants it any more */

struct hunt {
	const struct launch_options *launch;
	unsigned jobs;
	struct steer *steer;
	struct explore *explore;
	struct map seen;
	struct hunt_seen counts;
	struct hunt_result results[EXPLORE_ROUND * ROUNDS]; /* by index, as they came */
	bool here[EXPLORE_ROUND * ROUNDS];
	struct point_sites *sites[EXPLORE_ROUND * ROUNDS]; /* that they were ordered with */
	struct point_collector collector;
	uint64_t budget;
	struct claim claim; /* in every order */
	const struct claim *focus;
	size_t nfocus;
	unsigned focus_every;
	uint64_t given;  /* orders */
	uint64_t learnt; /* results */
	uint64_t handed; /* results that the caller has */
	uint64_t still_points;
	bool keep, spare;
};

static bool see(struct hunt *hunt, const uint32_t *words, size_t n)
{
	bool fresh;

	map_put(&hunt->seen, hash_bytes(HASH_START, words, n * sizeof *words), &fresh);
	return fresh;
}

/* How many of the observations are new. */
static uint64_t count_new(struct hunt *hunt, const struct observations *o)
{
	struct hunt_seen before = hunt->counts;

	for (size_t i = 0; i < o->npairs; i++) {
		const struct pair *p = &o->pairs[i];
		uint32_t words[] = { 1, p->kind, p->head_site, p->tail_site, p->head_thread, p->tail_thread };

		hunt->counts.pairs += see(hunt, words, 6);
	}
	for (size_t i = 0; i < o->npredecessors; i++) {
		uint32_t words[] = { 2, o->predecessors[i].site, o->predecessors[i].before };

		hunt->counts.predecessors += see(hunt, words, 3);
	}
	for (size_t i = 0; i < o->nedges; i++) {
		const struct edge *e = &o->edges[i];
		uint32_t words[] = { 3, e->source, e->sink,
				     (uint32_t)e->source_context << 16 | e->sink_context, e->write };

		hunt->counts.edges += see(hunt, words, 5);
	}
	return hunt->counts.pairs - before.pairs + hunt->counts.predecessors - before.predecessors +
	       hunt->counts.edges - before.edges;
}

/* A run that did not come to an end of its own says nothing about how long runs are. */
static bool is_whole(enum outcome outcome)
{
	return outcome != OUTCOME_LIVELOCK && outcome != OUTCOME_TIMEOUT && outcome != OUTCOME_DIVERGED &&
	       outcome != OUTCOME_SLOW;
}

static struct explore_news news_of(const struct run *run, enum label label, uint64_t points,
				   uint64_t contested, uint64_t gain, struct point_sites *sites)
{
	bool whole = is_whole(run->outcome);

	return (struct explore_news){
		.gain = gain,
		.failed = label == LABEL_FAIL,
		.points = whole ? points : 0,
		.contested = whole ? contested : 0,
		.turns = whole ? run->schedule.turns : NULL,
		.nturns = whole ? run->schedule.nturns : 0,
		.sites = sites,
	};
}

static struct hunt_result *place(struct hunt *hunt, uint64_t index)
{
	return &hunt->results[index % (EXPLORE_ROUND * ROUNDS)];
}

/* What an order forces or forbids: always the same, or now and then what the hunt is to look at. */
static struct claim claim_for(const struct hunt *hunt, uint64_t index)
{
	if (hunt->claim.use || !hunt->nfocus || index % hunt->focus_every != hunt->focus_every - 1)
		return hunt->claim;
	return hunt->focus[index / hunt->focus_every % hunt->nfocus];
}

static struct error *give_round(struct hunt *hunt)
{
	while (!hunt->budget || hunt->given < hunt->budget) {
		struct steer_order order;

		explore_next(hunt->explore, hunt->given, &order);
		order.claim = claim_for(hunt, hunt->given);
		order.keep = hunt->keep;
		order.light = !hunt->keep;
		order.spare = hunt->spare;
		order.still_points = hunt->still_points;
		order.early = hunt->launch->control.early;
		/* A plan is counted with the sites of the schedule that it was made from. */
		if (!order.nplan)
			order.sites = point_sites_hold(hunt->collector.sites);
		hunt->sites[hunt->given % (EXPLORE_ROUND * ROUNDS)] = point_sites_hold(order.sites);
		TRY(steer_give(hunt->steer, &order));
		if (explore_begins(++hunt->given))
			break;
	}
	return NULL;
}

struct error *hunt_start(const struct hunt_options *options, const struct run *first, struct hunt **out)
{
	_cleanup_(hunt_stopp) struct hunt *hunt = memory_alloc(sizeof *hunt);

	hunt->launch = options->launch;
	hunt->jobs = options->jobs;
	hunt->budget = options->budget;
	hunt->keep = options->keep;
	if (options->claim)
		hunt->claim = *options->claim;
	hunt->focus = options->focus;
	hunt->nfocus = options->focus ? options->nfocus : 0;
	hunt->focus_every = options->focus_every ? options->focus_every : 1;
	hunt->explore = explore_new(options->seed, options->arms);
	struct explore_news news =
		news_of(first, first->label, first->schedule.points, first->schedule.contested,
			count_new(hunt, &first->observations), NULL);

	explore_begin(hunt->explore, &news);
	point_collector_begin(&hunt->collector, &first->observations);
	TRY(steer_start(options->launch, options->jobs, &hunt->steer));
	for (int i = 0; i < ROUNDS; i++)
		TRY(give_round(hunt));
	*out = hunt;
	hunt = NULL;
	return NULL;
}

/* Takes in the result that comes next. */
static void learn_next(struct hunt *hunt)
{
	struct hunt_result *result = place(hunt, hunt->learnt);
	struct steer_report *report = &result->report;
	struct point_sites **sites = &hunt->sites[hunt->learnt % (EXPLORE_ROUND * ROUNDS)];

	result->arm = explore_arm_of(hunt->explore, hunt->learnt);
	result->gain = report->harvested ? count_new(hunt, &report->run.observations) : 0;
	struct explore_news news =
		news_of(&report->run, report->label, report->points, report->contested, result->gain, *sites);

	if (report->harvested)
		point_collector_add(&hunt->collector, &report->run.observations);
	explore_learn(hunt->explore, hunt->learnt++, &news);
	point_sites_drop(*sites);
	*sites = NULL;
}

struct error *hunt_next(struct hunt *hunt, double wait_s, struct hunt_result *result, bool *got, bool *done)
{
	*got = false;
	*done = hunt->budget && hunt->handed == hunt->budget;
	if (*done)
		return NULL;
	while (!hunt->here[hunt->handed % (EXPLORE_ROUND * ROUNDS)]) {
		struct steer_report report;
		bool came;

		TRY(steer_take(hunt->steer, wait_s, &report, &came));
		if (!came)
			return NULL;
		place(hunt, report.index)->report = report;
		hunt->here[report.index % (EXPLORE_ROUND * ROUNDS)] = true;
	}
	learn_next(hunt);
	*result = *place(hunt, hunt->handed);
	*place(hunt, hunt->handed) = (struct hunt_result){ 0 };
	hunt->here[hunt->handed % (EXPLORE_ROUND * ROUNDS)] = false;
	hunt->handed++;
	*got = true;
	/* Only when a round is complete there is room for another. */
	return explore_begins(hunt->handed) ? give_round(hunt) : NULL;
}

void hunt_keep(struct hunt *hunt, bool keep)
{
	hunt->keep = keep;
}

void hunt_spare(struct hunt *hunt, bool spare)
{
	hunt->spare = spare;
}

void hunt_patience(struct hunt *hunt, uint64_t still_points)
{
	hunt->still_points = still_points;
}

struct hunt_seen hunt_seen(const struct hunt *hunt)
{
	return hunt->counts;
}

uint64_t hunt_tried(const struct hunt *hunt, enum explore_arm arm)
{
	return explore_tried(hunt->explore, arm);
}

struct steer *const *hunt_server(const struct hunt *hunt)
{
	return &hunt->steer;
}

struct error *hunt_steer(struct hunt *hunt, struct steer **out)
{
	double patience = watch_now() + DRAIN_S;

	while (steer_pending(hunt->steer) && watch_now() < patience) {
		struct steer_report report;
		bool got;

		TRY(steer_take(hunt->steer, DRAIN_S, &report, &got));
		if (got)
			steer_report_free(&report);
	}
	if (steer_pending(hunt->steer)) { /* runs last long: new workers are there sooner */
		steer_stop(hunt->steer);
		hunt->steer = NULL;
		TRY(steer_start(hunt->launch, hunt->jobs, &hunt->steer));
	}
	*out = hunt->steer;
	return NULL;
}

void hunt_stop(struct hunt *hunt)
{
	if (!hunt)
		return;
	steer_stop(hunt->steer);
	explore_free(hunt->explore);
	map_free(&hunt->seen);
	for (size_t i = 0; i < EXPLORE_ROUND * ROUNDS; i++)
		steer_report_free(&hunt->results[i].report);
	for (size_t i = 0; i < EXPLORE_ROUND * ROUNDS; i++)
		point_sites_drop(hunt->sites[i]);
	point_collector_free(&hunt->collector);
	free(hunt);
}

void hunt_stopp(struct hunt **hunt)
{
	hunt_stop(*hunt);
}
