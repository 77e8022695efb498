/* A thread that waits on a condition must look at it again when it is woken: it may have
 * been signalled late, by mistake or by the system, and others may have been quicker. If
 * the thread in which the program died had just been woken, went on without looking
 * again, and what it had looked at was not changed or was changed back, that is why.
 */
#include <string.h>

#include "diagnose/diagnosis.h"
#include "diagnose/switches.h"

#define SOON 64u  /* accesses from the waking to the end */
#define TESTED 4u /* accesses before the wait that may be the look at the condition */

/* The last time that the thread of the last turn waited on a condition; SIZE_MAX: it never did. */
static size_t last_wait(struct diagnosis *diagnosis, const struct schedule *schedule)
{
	uint32_t thread = schedule->turns[schedule->nturns - 1].thread;

	for (size_t i = schedule->nturns - 1; i-- > 0;) {
		const struct schedule_turn *turn = &schedule->turns[i];
		const struct site *site = turn->wake || turn->thread != thread || !turn->site
						  ? NULL
						  : atlas_find(&diagnosis->retold.atlas, turn->site);

		if (site && turn->stop == STOP_BLOCKED && site->kind == SITE_SYNC &&
		    strstr(site->variable, "wait") &&
		    (strstr(site->variable, "cond") || strstr(site->variable, "cnd")))
			return i;
		if (!turn->wake && turn->thread == thread && turn->stop != STOP_BLOCKED)
			return SIZE_MAX; /* it has had other turns since */
	}
	return SIZE_MAX;
}

static bool same_line(const struct trace *trace, const struct event *a, const struct event *b)
{
	const struct site *x = atlas_number(trace->atlas, a->site), *y = atlas_number(trace->atlas, b->site);

	return x && y && x->line == y->line && !strcmp(x->file, y->file);
}

/* What the thread saw before it waited and used afterwards. */
struct waking {
	const struct event *test, *use, *change; /* change: the last of the others' in between; may be NULL */
	uint32_t writers;                        /* other threads that wrote there, 2 for more */
	size_t writes;
};

/* What the thread read last before it waited. */
static size_t find_tests(const struct trace *trace, const struct gap *gap, const struct event **tests)
{
	size_t n = 0;

	for (size_t i = gap->from; i-- > 0 && n < TESTED;) {
		const struct event *event = &trace->run->events[i];

		if (event->thread != gap->thread)
			continue;
		if (event->write)
			break;
		tests[n++] = event;
	}
	return n;
}

static void count_changes(const struct observations *run, const struct gap *gap, struct waking *waking)
{
	for (size_t i = gap->from; i < gap->to; i++) {
		const struct event *event = &run->events[i];

		if (!event->write || event->address != waking->use->address)
			continue;
		waking->writes++;
		if (!waking->change || waking->change->thread != event->thread)
			waking->writers++;
		waking->change = event;
	}
}

/* How the thread first read again what it had tested; NULL when it did not, or at the same line: then it
 * looked again. */
static const struct event *find_use(const struct trace *trace, const struct gap *gap,
				    const struct event *test)
{
	const struct observations *run = trace->run;

	for (size_t i = gap->to; i < run->nevents; i++) {
		const struct event *event = &run->events[i];

		if (event->thread == gap->thread && event->address == test->address)
			return event->write || same_line(trace, event, test) ? NULL : event;
	}
	return NULL;
}

/* What it had read, and went on with as it was, or as others had left it. */
static bool find_waking(const struct trace *trace, const struct gap *gap, struct waking *out)
{
	const struct event *tests[TESTED];
	size_t n = trace->run->nevents - gap->to > SOON ? 0 : find_tests(trace, gap, tests);

	for (size_t i = 0; i < n; i++) {
		*out = (struct waking){ .test = tests[i], .use = find_use(trace, gap, tests[i]) };
		if (!out->use)
			continue;
		count_changes(trace->run, gap, out);
		/* One other that changed it is what it waited for. */
		if (!out->writes || out->writers > 1)
			return true;
	}
	return false;
}

static void add_access(const struct diagnosis *diagnosis, struct finding *finding, const struct event *event)
{
	struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE,
							   atlas_number(diagnosis->trace.atlas, event->site));

	access->thread = event->thread;
	access->kind = event->write ? SITE_WRITE : SITE_READ;
	finding_add_variable(finding, access->variable);
}

static void tell(struct diagnosis *diagnosis, const struct waking *waking, const struct schedule_turn *wait,
		 struct opinion *opinion)
{
	struct finding *finding = VEC_PUSH(&opinion->findings);

	finding->rank = (unsigned)opinion->findings.n;
	finding->class = FINDING_ATOMICITY;
	finding->method = memory_string(opinion->method);
	finding->score = waking->writes ? 0.8 : 1;
	finding->run = diagnosis->tally.failure.number;
	finding->runs.failed = 1;
	add_access(diagnosis, finding, waking->test);
	struct finding_access *call = finding_add_access(&finding->accesses, FINDING_NO_SITE,
							 atlas_find(&diagnosis->retold.atlas, wait->site));

	call->thread = wait->thread;
	call->role = "wait";
	if (waking->change)
		add_access(diagnosis, finding, waking->change);
	add_access(diagnosis, finding, waking->use);
	diagnosis_tell(finding, waking->writes ? TOLD_WOKEN_TOO_LATE : TOLD_WOKEN_FOR_NONE, wait->thread, 0);
}

/* When the others have touched nothing meanwhile, the trace does not show where the thread waited. It
 * has done in its last turn as many accesses as that has points, less one for the wait. */
static bool split_turn(const struct observations *run, const struct schedule *schedule, struct gap *gap)
{
	uint64_t after = schedule->turns[schedule->nturns - 1].points - 1;

	if (gap->to < run->nevents)
		return true;
	if (!after || after > SOON || after > run->nevents)
		return false;
	gap->from = gap->to = run->nevents - after;
	for (size_t i = gap->from; i < run->nevents; i++)
		if (run->events[i].thread != gap->thread)
			return false;
	return true;
}

static struct error *ask_wakes(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct run *failure = &diagnosis->tally.failure;
	const struct schedule *schedule = failure->reduced.nturns ? &failure->reduced : &failure->schedule;
	struct waking waking = { 0 };
	struct gap gap;

	if (!diagnosis->trace.run || schedule->nturns < 2 || failure->outcome != OUTCOME_SIGNAL)
		return NULL;
	size_t at = last_wait(diagnosis, schedule);

	if (at == SIZE_MAX || !switches_gap(diagnosis->trace.run, schedule, at, &gap) ||
	    !split_turn(diagnosis->trace.run, schedule, &gap) ||
	    !find_waking(&diagnosis->trace, &gap, &waking))
		return NULL;
	tell(diagnosis, &waking, &schedule->turns[at], opinion);
	return NULL;
}

const struct method method_wakes = {
	.head = { .method = "wakes" },
	.ask = ask_wakes,
};
