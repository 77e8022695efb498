/* Orders go out in rounds of fixed size, and what is decided is decided between rounds:
 * the counts do not depend on the number of workers nor on how fast they are.
 */
#include "loom/trials.h"

#include <string.h>

#include "base/memory.h"
#include "loom/reduce.h"
#include "loom/watch.h"

#define ROUND 16u
#define WAIT_S 0.1
#define CAP_TIMES 16u /* points of a failing run that another may take before it is called a livelock */
#define CAP_LEAST 100000u

/* A number that depends on nothing but these. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a + (b + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void set_policy(uint64_t dice, struct steer_order *order)
{
	static const struct {
		enum schedule_policy policy;
		uint32_t depth;
	} policies[] = { { SCHEDULE_RANDOM, 0 }, { SCHEDULE_PCT, 2 },  { SCHEDULE_POS, 0 },
			 { SCHEDULE_PCT, 3 },    { SCHEDULE_SURW, 0 }, { SCHEDULE_POS, 0 } };
	size_t i = dice % (sizeof policies / sizeof *policies);

	order->policy = policies[i].policy;
	order->depth = policies[i].depth;
}

static void follow(const struct schedule *schedule, uint64_t dice, bool whole, struct steer_order *order)
{
	order->plan = memory_alloc((schedule->nturns + 1) * sizeof *order->plan);
	order->nplan = reduce_plan(schedule, false, order->plan);
	if (!whole && order->nplan)
		order->nplan = dice % (order->nplan + 1);
}

/* What counts as a point in the schedule does so in the trials near it. */
static struct point_sites *sites_of(struct trials *trials, size_t number)
{
	if (!trials->sites[number])
		trials->sites[number] = point_sites_of(trials->schedules[number]);
	return point_sites_hold(trials->sites[number]);
}

void trials_free(struct trials *trials)
{
	for (size_t i = 0; i < TRIALS_SCHEDULES; i++)
		point_sites_drop(trials->sites[i]);
}

static struct steer_order order_of(struct trials *trials, enum trials_where where, uint64_t number)
{
	uint64_t dice = mix(trials->seed, number);
	const struct schedule *schedule =
		trials->nschedules ? trials->schedules[number % trials->nschedules] : NULL;
	uint64_t points = trials->failed->schedule.points * CAP_TIMES;
	struct steer_order order = { .index = number,
				     .seed = mix(dice, number) >> 16,
				     .light = true,
				     .spare = true,
				     .policy = SCHEDULE_STAY,
				     .points = trials->failed->schedule.contested,
				     .most_points = points > CAP_LEAST ? points : CAP_LEAST };

	if (where != TRIALS_ALONG)
		set_policy(dice >> 32, &order);
	if (schedule)
		order.sites = sites_of(trials, number % trials->nschedules);
	if (where != TRIALS_ANY && schedule)
		follow(schedule, dice >> 8, where == TRIALS_ALONG, &order);
	return order;
}

static void count(const struct trials *trials, const struct steer_report *report,
		  struct trials_counts *counts)
{
	bool failed = report->label == LABEL_FAIL;
	bool meant =
		failed && report->outcome == trials->failed->outcome && report->code == trials->failed->code;

	/* What was still at work when patience ended has shown nothing, as if somebody had been let go. */
	bool slow = report->outcome == OUTCOME_SLOW;

	counts->runs++;
	counts->failed += meant;
	counts->other += failed && !meant;
	/* Whoever failed may have done so before what was waited for could come. */
	bool given_up = slow || report->claim.given_up || (failed && report->claim.in_vain);

	counts->given_up += given_up;
	counts->failed_given_up += meant && given_up;
	counts->held += report->claim.held > 0;
	counts->occurred += !slow && report->claim.occurred > 0;
	counts->failed_occurred += failed && report->claim.occurred;
	counts->before += !failed && !slow && report->claim.orders & CLAIM_BEFORE;
	counts->after += !failed && !slow && report->claim.orders & CLAIM_AFTER;
}

static struct error *take_all(struct trials *trials, enum trials_where where, struct trials_counts *counts)
{
	while (steer_pending(trials->steer)) {
		struct steer_report report = { 0 };
		bool got;

		TRY(steer_take(trials->steer, WAIT_S, &report, &got));
		if (got) {
			count(trials, &report, counts);
			if (where == TRIALS_ALONG && report.label == LABEL_FAIL && !report.claim.given_up &&
			    report.index < 64)
				trials->left |= UINT64_C(1) << report.index;
			trials->runs++;
		}
		steer_report_free(&report);
	}
	return NULL;
}

bool trials_are_over(const struct trials *trials)
{
	return (trials->stop && trials->stop()) || (trials->most && trials->runs >= trials->most) ||
	       (trials->deadline > 0 && watch_now() > trials->deadline);
}

struct error *trials_run(struct trials *trials, const struct claim *claim, enum claim_use use,
			 enum trials_where where, uint64_t first, uint64_t n, bool until_failure,
			 struct trials_counts *counts)
{
	trials->left = 0;
	for (uint64_t i = 0; i < n; i += ROUND) {
		if (trials_are_over(trials)) {
			counts->cut = true;
			return NULL;
		}
		for (uint64_t j = i; j < n && j < i + ROUND; j++) {
			struct steer_order order = order_of(trials, where, first + j);

			if (claim) {
				order.claim = *claim;
				order.claim.use = use;
			}
			TRY(steer_give(trials->steer, &order));
		}
		TRY(take_all(trials, where, counts));
		if (until_failure && counts->failed > counts->failed_given_up)
			return NULL;
	}
	return NULL;
}
