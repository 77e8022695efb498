/* How the next thread is chosen when no plan says it: a random walk, PCT (Burckhardt
 * et al. 2010), partial order sampling (Yuan et al. 2018), selectively uniform random
 * walk (Zhao et al. 2025), staying with the running thread, or as the clock would have it. Threads that only spin
 * are left out as long as others can run; sleepers may be chosen before their time. */
#include "loom/runtime/control/engine.h"

#define PCT_POINTS 1000u /* expected when nobody knows */
#define PCT_CHANGES 64u
#define SURW_POINTS 100u
#define SHORT_NS 10000000u /* a wait that ends too early by so much is nothing special */
#define PATIENCE_NS \
	200u /* of a sleep, for each access of the others: they may wait for what comes after it */
#define PATIENCE_AGAIN 1000u
#define FAIR_POINTS 65537u /* a prime, so that no loop is always left at the same place */
#define TICKS_PER_NS 2u /* machines have 1 to 4; what they measure against a sleep is far longer or shorter */
/* Until a thread runs that starts or wakes: some microseconds where a processor is free, a time slice where none is. */
#define START_LEAST_LOG 13u /* of ticks */
#define START_MOST_LOG 24u
#define VISITS_DRAWN 8u /* one site in so many is changed at after 2, 4, 8 … visits at most */

static HOT uint64_t pct_changes[PCT_CHANGES]; /* contested points, or ids of sites */
static HOT uint32_t pct_visits[PCT_CHANGES];  /* of these sites, before the change */

/* Where threads of many are alike most points are theirs, so with groups most runs draw the sites before which
 * priorities change, each as likely; at the first visit, or after some more. */
static void draw_sites(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		pct_changes[i] = control.schedule->sites[control_below(control.options.nsites)];
		pct_visits[i] = (uint32_t)control_below(1ull << control_below(VISITS_DRAWN));
	}
	control.by_site = true;
}

static void pct_start(void)
{
	uint64_t points = control.options.points ? control.options.points : PCT_POINTS;
	uint32_t n = control.options.depth ? control.options.depth - 1 : 0;
	n = n < PCT_CHANGES ? n : PCT_CHANGES;
	control.nchanges = n;
	control.lowest = PRIORITY_HIGH - 1;
	if (control.by_place && control.options.nsites && control_below(4)) {
		draw_sites(n);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t change = 1 + control_below(points);
		uint32_t at = i;
		for (; at && pct_changes[at - 1] > change; at--)
			pct_changes[at] = pct_changes[at - 1];
		pct_changes[at] = change;
	}
}

/* ---- clocks: as if each thread had a processor ---- */

/* The running thread's clock goes while the program's own code runs, not at points; each lies in its thread's
 * `priority`. Who is behind goes on next, so threads meet when they do in free runs, but one access after the other. */
static HOT struct agent *clocked; /* NULL: none goes */
static HOT uint64_t clocked_since;
static HOT uint64_t hook_ticks; /* the shortest way from point to point: what hooks take of it */

static void clock_stops(void)
{
	uint64_t ticks = __builtin_ia32_rdtsc() - clocked_since;
	if (!clocked)
		return;
	hook_ticks = ticks < hook_ticks ? ticks : hook_ticks;
	clocked->priority += ticks - hook_ticks;
	clocked = NULL;
}

static void clock_goes(struct agent *me)
{
	clock_stops(); /* where nobody else could run nobody asked */
	clocked = me;
	clocked_since = __builtin_ia32_rdtsc();
}

/* Its clock is that of who made or woke it; each length of the delay is as likely as twice that. */
static void clock_starts(struct agent *agent)
{
	const struct agent *by = control.current;
	uint64_t now = by ? by->priority : 0;
	if (by && by == clocked)
		now += __builtin_ia32_rdtsc() - clocked_since;
	agent->priority = now + (1ull << (START_LEAST_LOG + control_below(START_MOST_LOG - START_LEAST_LOG)));
}

void policy_readies(struct agent *agent)
{
	if (control.options.policy == POLICY_CLOCK)
		clock_starts(agent);
}

void policy_start(void)
{
	control.by_place = control.options.policy != area_policy_base(control.options.policy);
	control.options.policy = area_policy_base(control.options.policy);
	clocked = NULL;
	hook_ticks = UINT64_MAX;
	if (control.options.policy == POLICY_PCT)
		pct_start();
	/* SURW: one run looks at all sites, another at a fourth or a sixteenth of them. */
	control.interesting = UINT64_MAX >> 2 * control_below(3);
	/* Short programs want to be interrupted anywhere, long ones where threads meet. */
	static const uint64_t passing[] = { 1, 8, 64, 1024 };
	control.passing = passing[control_below(4)];
	control.phase = (uint32_t)control_random();
	control.fair_at = FAIR_POINTS;
}

void policy_new(struct agent *agent)
{
	groups_join(agent);
	agent->priority = control_random() | PRIORITY_HIGH;
	policy_readies(agent);
	if (control.by_place && control.options.policy == POLICY_PCT)
		groups_set_priority(agent);
	uint64_t expected =
		agent->number < CONTROL_THREADS ? control.options.thread_points[agent->number] : 0;
	agent->left = expected ? expected : SURW_POINTS;
}

/* ---- who may be chosen ---- */

static bool may_rest(const struct agent *agent)
{
	return agent->demoted && agent->demoted_until > control.contested;
}

/* When nobody is ready, time passes for all, so a timer of the program comes in its order. */
static bool may_expire(const struct agent *agent)
{
	return agent->deadline != NEVER && agent->eager <= control.contested &&
	       (control.nready || agent->deadline <= control.timer_deadline);
}

/* A sleeper that has waited for too long while others only went on and on. It must not overtake a time-out
 * that would come before. */
static struct agent *overdue_sleeper(void)
{
	struct agent *first = NULL;
	uint64_t before = control.timer_deadline;
	control.next_overdue = NEVER;
	for (uint32_t i = 0; i < control.nblocked; i++) {
		struct agent *agent = control.blocked[i];
		if (agent->deadline == NEVER)
			continue;
		if (agent->overdue == NEVER) {
			before = agent->deadline < before ? agent->deadline : before;
		} else if (agent->overdue > control.work) {
			if (agent->overdue < control.next_overdue)
				control.next_overdue = agent->overdue;
		} else if (!first || agent->deadline < first->deadline) {
			first = agent;
		}
	}
	if (first)
		control.next_overdue = control.work + PATIENCE_AGAIN;
	return first && first->deadline <= before ? first : NULL;
}

/* Those who can go on: ready ones that do not only spin, and sleepers whose turn has come early. */
static uint32_t candidates(struct agent *me)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < control.nready; i++)
		if (!may_rest(control.ready[i]) && !(control.ready[i] == me && me->yields))
			control.candidates[n++] = control.ready[i];
	for (uint32_t i = 0; control.ntimed && i < control.nblocked; i++)
		if (may_expire(control.blocked[i]))
			control.candidates[n++] = control.blocked[i];
	if (n)
		return n;
	for (uint32_t i = 0; i < control.nready; i++)
		if (control.ready[i] != me || control.nready == 1)
			control.candidates[n++] = control.ready[i];
	return n;
}

static struct agent *highest(struct agent *me)
{
	struct agent *best = NULL;
	uint32_t n = candidates(me);
	if (control.by_place && control.options.policy == POLICY_POS)
		return places_highest(n);
	for (uint32_t i = 0; i < n; i++)
		if (!best || control.candidates[i]->priority > best->priority)
			best = control.candidates[i];
	return best;
}

/* ---- the policies ---- */

/* Most turns of a long loop are like the ones before: switches must stay possible there, but they are worth
 * less. Of the visits to a site all of the first 8 count, then 4 until their number has doubled; which ones
 * differs from run to run. */
void policy_weigh(struct agent *me)
{
	uint32_t visits = points_visit(me->site);
	uint32_t step = visits < 8 ? 1 : 1u << (31 - __builtin_clz(visits)) >> 2;
	me->repeated = ((visits + control.phase) & (step - 1)) != 0;
}

static bool passed_over(const struct agent *me)
{
	return me && me->repeated && !me->demoted && !me->yields &&
	       (control_random() & (control.passing - 1)) != 0;
}

static struct agent *random_next(struct agent *me)
{
	if (passed_over(me))
		return me;
	if (control.by_place)
		return places_draw(candidates(me));
	if (!control.ndemoted && !control.ntimed && !(me && me->yields))
		return control.nready ? control.ready[control_below(control.nready)] : NULL;
	uint32_t n = candidates(me);
	return n ? control.candidates[control_below(n)] : NULL;
}

static bool change_has_come(const struct agent *me)
{
	uint32_t next = control.next_change;
	if (next >= control.nchanges)
		return false;
	if (!control.by_site)
		return pct_changes[next] <= control.contested;
	if (me->access == POINT_LINGER || units_site_id(me->site) != pct_changes[next])
		return false;
	return pct_visits[next]-- == 0;
}

static struct agent *pct_next(struct agent *me)
{
	while (me && !me->repeated && change_has_come(me)) {
		control.next_change++;
		if (control.by_place)
			groups_sink(me);
		else
			me->priority = control.lowest--;
		control.review = true;
	}
	if (me && me->yields && !me->demoted) {
		me->priority = control.lowest--;
		control.review = true;
	}
	if (me && !control.review && !control.ndemoted && !control.ntimed)
		return me;
	control.review = false;
	return highest(me);
}

static struct agent *pos_next(struct agent *me)
{
	if (passed_over(me))
		return me;
	if (me)
		me->priority = control_random();
	return highest(me);
}

static bool overlap(const struct agent *a, const struct agent *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* Do the points at which two threads stand depend on each other's order? */
static bool in_conflict(const struct agent *a, const struct agent *b)
{
	if (a->access == ACCESS_READ && b->access == ACCESS_READ)
		return false;
	return overlap(a, b);
}

static bool is_interesting(const struct agent *agent)
{
	if (agent->repeated)
		return false;
	return (site_key(agent->site) + 1) * 0x9e3779b97f4a7c15u <= control.interesting ||
	       control.interesting == UINT64_MAX;
}

/* One of them, each as likely as it has points left. */
static struct agent *surw_draw(uint32_t n)
{
	uint64_t sum = 0;
	if (control.by_place)
		return places_draw_by_points(n);
	for (uint32_t i = 0; i < n; i++)
		sum += control.candidates[i]->left + 1;
	uint64_t at = n ? control_below(sum) : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (at <= control.candidates[i]->left)
			return control.candidates[i];
		at -= control.candidates[i]->left + 1;
	}
	return NULL;
}

static struct agent *surw_next(struct agent *me)
{
	bool ready = me && !me->yields && !may_rest(me);
	if (ready && (me->repeated ? passed_over(me) : !is_interesting(me)))
		return me;
	uint32_t n = candidates(me);
	bool there = false;
	for (uint32_t i = 0; i < n; i++)
		there |= control.candidates[i] == control.chosen;
	if (!there)
		control.chosen = surw_draw(n);
	return control.chosen;
}

static struct agent *clock_next(struct agent *me)
{
	clock_stops();
	uint32_t n = candidates(me);
	struct agent *next = NULL;
	for (uint32_t i = 0; i < n; i++)
		if (!next || control.candidates[i]->priority < next->priority)
			next = control.candidates[i];
	for (uint32_t i = 0; control.ntimed && i < control.nblocked; i++) {
		struct agent *agent = control.blocked[i];
		if (agent->wait == WAIT_SLEEP && agent->deadline != NEVER &&
		    (control.nready || agent->deadline <= control.timer_deadline) &&
		    (!next || agent->priority < next->priority))
			next = agent;
	}
	return next;
}

/* Where all of them only spin, turns of one point each could go round in step for ever: the one always looks
 * while the other is in the middle. So turns have different lengths there, the same in each run. */
static bool stays_out_of_step(const struct agent *me)
{
	uint64_t mixed = (me->passed + control.phase) * 0x9e3779b97f4a7c15u;
	return control.ndemoted >= control.nready && mixed >> 62 != 0;
}

static struct agent *stay_next(struct agent *me)
{
	if (me && !me->yields && (!may_rest(me) || stays_out_of_step(me)))
		return me;
	uint32_t n = candidates(me), from = me ? me->number : control.current->number;
	for (uint32_t i = 0; i < n; i++)
		if (control.candidates[i]->number > from)
			return control.candidates[i];
	return n ? control.candidates[0] : NULL;
}

/* Who waits for what a thread of low priority has yet to do would go on for ever. A yield asks for others to
 * be let go, and so does whoever has gone on for very long. */
static void be_fair(struct agent *me)
{
	bool long_enough = control.schedule->points >= control.fair_at;
	if (long_enough)
		control.fair_at = control.schedule->points + FAIR_POINTS;
	if (!long_enough && !me->yields)
		return;
	if (control.options.policy == POLICY_POS)
		for (uint32_t i = 0; i < control.nready; i++)
			control.ready[i]->priority = control_random();
	if (control.options.policy == POLICY_STAY && long_enough)
		me->yields = true;
	if (control.options.policy == POLICY_PCT && long_enough) {
		me->priority = control.lowest--;
		control.review = true;
	}
}

struct agent *policy_next(struct agent *me)
{
	struct agent *next = NULL;
	if (UNLIKELY(control.work >= control.next_overdue))
		next = overdue_sleeper();
	if (next) {
		control_expire(next);
		return next;
	}
	if (me)
		be_fair(me);
	switch (control.options.policy) {
	case POLICY_PCT:
		next = pct_next(me);
		break;
	case POLICY_POS:
		next = pos_next(me);
		break;
	case POLICY_SURW:
		next = surw_next(me);
		break;
	case POLICY_STAY:
		next = stay_next(me);
		break;
	case POLICY_CLOCK:
		next = clock_next(me);
		break;
	default:
		next = random_next(me);
	}
	if (next && next->state == AGENT_BLOCKED) {
		if (next->wait != WAIT_SLEEP && next->deadline > control.now + SHORT_NS)
			control_expired_early(next);
		control_expire(next);
	}
	return next;
}

void policy_passed(struct agent *me)
{
	if (control.options.policy == POLICY_POS) {
		for (uint32_t i = 0; i < control.nready; i++)
			if (control.ready[i] != me && in_conflict(control.ready[i], me))
				control.ready[i]->priority = control_random();
	} else if (control.options.policy == POLICY_SURW) {
		me->left -= me->left > 0;
		if (control.chosen == me && is_interesting(me))
			control.chosen = NULL;
	} else if (control.options.policy == POLICY_CLOCK) {
		clock_goes(me);
	}
}

void policy_demoted(struct agent *me)
{
	if (control.options.policy == POLICY_PCT)
		me->priority = control.lowest--;
}

/* Any machine may stop a thread for some milliseconds, so half of the short waits end early, at once or
 * after any number of points. Longer ones do not: a wait with a time-out never does: that it runs out is news to the
 * program, which no correct one expects while others are at work. To let it run out all the same is an
 * experiment that has to be asked for. */
uint64_t policy_eager(struct agent *agent)
{
	uint64_t now = time_of(agent), length = agent->deadline > now ? agent->deadline - now : 0;
	bool sleeps = agent->wait == WAIT_SLEEP, early = control.options.early && !sleeps;
	uint64_t dice = control_random();
	if (control.options.policy == POLICY_CLOCK) { /* its clock says when it wakes */
		clock_stops();
		agent->priority += sleeps ? length * TICKS_PER_NS : 0;
		return NEVER;
	}
	if (length > SHORT_NS && !early)
		return NEVER;
	uint32_t one_in = length <= SHORT_NS / 10 ? 2 : 4;
	if (control.options.policy == POLICY_STAY || dice % one_in)
		return NEVER;
	dice >>= 8;
	return dice & 1 ? control.contested : control.contested + (1ull << (dice >> 1) % 10);
}

uint64_t policy_overdue(const struct agent *agent)
{
	uint64_t now = time_of(agent), length = agent->deadline > now ? agent->deadline - now : 0;
	return agent->wait == WAIT_SLEEP || length <= SHORT_NS
		       ? control.work + PATIENCE_AGAIN + length / PATIENCE_NS
		       : NEVER;
}

bool policy_lets_expire(const struct agent *agent)
{
	return !control.nready || control.options.early || agent->deadline <= control.now + SHORT_NS ||
	       agent->overdue <= control.work;
}
