/* What the schedule itself tells, without comparing runs: threads that wait for each
 * other's locks, a signal that came when nobody waited yet, and the access at which a
 * program dies whatever the order of its threads.
 */
#include <signal.h>
#include <string.h>

#include "diagnose/diagnosis.h"
#include "diagnose/overflow.h"

/* A hang without a cycle and without a missed signal has its reason elsewhere. */
#define SCORE_OF_A_HANG 0.3
/* Whoever took a signal may have been the one that it was meant for. */
#define SCORE_OF_A_TAKEN_SIGNAL 0.5
#define TAKEN_MOST 4u /* signals of one condition variable that are told together: a claim has six steps */
/* Where a program crashes is seen; why is not. */
#define SCORE_OF_A_CRASH 0.5

static const struct schedule *schedule_of(const struct diagnosis *diagnosis)
{
	const struct run *failure = &diagnosis->tally.failure;

	return failure->reduced.nturns ? &failure->reduced : &failure->schedule;
}

static const struct schedule_wait *wait_of(const struct schedule *schedule, uint32_t thread)
{
	for (size_t i = 0; i < schedule->nwaits; i++)
		if (schedule->waits[i].thread == thread)
			return &schedule->waits[i];
	return NULL;
}

static bool is_lock(enum schedule_waiting kind)
{
	return kind == WAITING_MUTEX || kind == WAITING_READ_LOCK || kind == WAITING_WRITE_LOCK ||
	       kind == WAITING_SPINLOCK || kind == WAITING_ONCE;
}

/* Does the thread wait for itself in the end, through locks and ends of threads only? */
static bool in_cycle(const struct schedule *schedule, uint32_t thread)
{
	uint32_t now = thread;

	for (size_t steps = 0; steps <= schedule->nwaits; steps++) {
		const struct schedule_wait *wait = wait_of(schedule, now);

		if (!wait || wait->holder == THREAD_NONE || wait->fork_site ||
		    !(is_lock(wait->kind) || wait->kind == WAITING_JOIN))
			return false;
		now = wait->holder;
		if (now == thread)
			return true;
	}
	return false;
}

static void add_call(const struct diagnosis *diagnosis, struct finding *finding, uint32_t thread,
		     const char *role, uint64_t id, bool missing)
{
	const struct site *site = id ? atlas_find((void *)(uintptr_t)&diagnosis->retold.atlas, id) : NULL;

	if (!site)
		return;
	struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE, site);

	access->thread = thread;
	access->role = role;
	access->missing = missing;
}

static struct finding *add_finding(const struct diagnosis *diagnosis, struct opinion *opinion,
				   enum finding_class class, double score)
{
	struct finding *finding = VEC_PUSH(&opinion->findings);

	finding->rank = (unsigned)opinion->findings.n;
	finding->class = class;
	finding->method = memory_string(opinion->method);
	finding->score = score;
	finding->run = diagnosis->tally.failure.number;
	finding->runs.passed = diagnosis->tally.passed;
	finding->runs.failed = diagnosis->tally.failed;
	return finding;
}

/* First what each of them has, then where each is stuck. */
static void tell_cycle(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);
	struct finding *finding = add_finding(diagnosis, opinion, FINDING_DEADLOCK, 1);
	uint32_t threads = 0;
	bool joins = false;

	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *wait = &schedule->waits[i];

		if (!in_cycle(schedule, wait->thread))
			continue;
		threads++;
		if (is_lock(wait->kind))
			add_call(diagnosis, finding, wait->holder, "lock", wait->holder_site, false);
		joins |= wait->kind == WAITING_JOIN;
	}
	for (size_t i = 0; i < schedule->nwaits; i++)
		if (in_cycle(schedule, schedule->waits[i].thread))
			add_call(diagnosis, finding, schedule->waits[i].thread,
				 is_lock(schedule->waits[i].kind) ? "lock" : "wait", schedule->waits[i].site,
				 true);
	diagnosis_tell(finding,
		       threads == 1 ? TOLD_OWN_LOCK
		       : joins      ? TOLD_JOIN_CYCLE
				    : TOLD_LOCK_CYCLE,
		       threads, 0);
}

/* The last look of the waiting thread at what the signalling one then changed, and its last change: the signal that is
 * told was its last one, too. */
static void add_condition(struct diagnosis *diagnosis, struct finding *finding,
			  const struct schedule_wait *wait)
{
	const struct observations *run = diagnosis->trace.run;
	const struct event *read = NULL, *write = NULL;

	for (size_t i = run ? run->nevents : 0; i-- > 0 && !(read && write);) {
		const struct event *event = &run->events[i];

		if (!write && event->thread == wait->thread && !event->write)
			for (size_t j = i + 1; j < run->nevents; j++)
				if (run->events[j].thread == wait->missed_thread && run->events[j].write &&
				    run->events[j].address == event->address) {
					write = &run->events[j];
					read = event;
				}
	}
	for (int turn = 0; read && turn < 2; turn++) {
		const struct event *event = turn ? write : read;
		const struct site *site = atlas_number(diagnosis->trace.atlas, event->site);

		if (!site)
			continue;
		struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE, site);

		access->thread = event->thread;
		access->kind = event->write ? SITE_WRITE : SITE_READ;
		finding_add_variable(finding, access->variable);
	}
}

/* Did the waiter look at the word that it waits for, for the last time, before the signalling thread changed it? */
static bool has_looked_before(const struct diagnosis *diagnosis, const struct schedule_wait *wait)
{
	const struct observations *run = diagnosis->trace.run;

	for (size_t i = run ? run->nevents : 0; i-- > 0;) {
		const struct event *event = &run->events[i];

		if (event->address != wait->address)
			continue;
		if (event->thread == wait->thread && !event->write)
			return false;
		if (event->thread == wait->missed_thread && event->write)
			return true;
	}
	return false;
}

static bool is_same_miss(const struct schedule_wait *a, const struct schedule_wait *b)
{
	return a->site == b->site && a->missed_site == b->missed_site;
}

/* The waits for which a signal came too early, each pair of places once. Who waits for a word in memory has missed only
 * what was written there since it looked, as far as that was seen. */
static bool tell_missed(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);
	bool word_seen = false, told = false;

	for (size_t i = 0; i < schedule->nwaits; i++)
		word_seen |=
			schedule->waits[i].missed_site && has_looked_before(diagnosis, &schedule->waits[i]);
	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *wait = &schedule->waits[i];
		bool before = false;

		for (size_t j = 0; j < i; j++)
			before |= is_same_miss(&schedule->waits[j], wait);
		if (!wait->missed_site || before ||
		    (word_seen && wait->kind == WAITING_ADDRESS && !has_looked_before(diagnosis, wait)))
			continue;
		struct finding *finding = add_finding(diagnosis, opinion, FINDING_LOST_WAKEUP, 1);

		add_condition(diagnosis, finding, wait);
		add_call(diagnosis, finding, wait->missed_thread, "signal", wait->missed_site, false);
		add_call(diagnosis, finding, wait->thread, "wait", wait->site, true);
		diagnosis_tell(finding, TOLD_SIGNAL_MISSED, wait->missed_thread, wait->thread);
		told = true;
	}
	return told;
}

/* Of waits at one condition variable: the signals that woke others meanwhile, and the first of the waits. */
static void tell_taken_at(struct diagnosis *diagnosis, struct opinion *opinion,
			  const struct schedule_wait *const *waits, size_t n)
{
	struct finding *finding =
		add_finding(diagnosis, opinion, FINDING_LOST_WAKEUP, SCORE_OF_A_TAKEN_SIGNAL);

	for (size_t i = n; i-- > 0;)
		add_call(diagnosis, finding, waits[i]->taken_thread, "signal", waits[i]->taken_site, false);
	add_call(diagnosis, finding, waits[0]->taker_thread, "woken", waits[0]->taker_site, false);
	add_call(diagnosis, finding, waits[0]->thread, "wait", waits[0]->site, true);
	diagnosis_tell(finding, TOLD_SIGNAL_TAKEN, waits[0]->taker_thread, waits[0]->thread);
}

/* The signals of which waiting threads saw that others took them, each alone, and all of one condition variable. */
static void tell_taken(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);

	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *waits[TAKEN_MOST];
		bool first = true;
		size_t n = 0;

		for (size_t j = 0; j < schedule->nwaits; j++) {
			const struct schedule_wait *wait = &schedule->waits[j];
			bool before = !wait->taken_site || wait->address != schedule->waits[i].address;

			first &= before || j >= i;
			for (size_t k = 0; k < n; k++)
				before |= waits[k]->taken_site == wait->taken_site;
			if (!before && n < TAKEN_MOST)
				waits[n++] = wait;
		}
		for (size_t j = 0; j < n && first; j++)
			tell_taken_at(diagnosis, opinion, &waits[j], 1);
		if (n > 1 && first)
			tell_taken_at(diagnosis, opinion, waits, n);
	}
}

/* A thread waits for another's doing while it has a lock that a third waits for. */
static bool tell_kept_lock(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);

	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *blocked = &schedule->waits[i];
		const struct schedule_wait *keeper =
			is_lock(blocked->kind) && blocked->holder != THREAD_NONE && blocked->holder_site &&
					!blocked->fork_site
				? wait_of(schedule, blocked->holder)
				: NULL;

		if (!keeper || is_lock(keeper->kind) || keeper->kind == WAITING_JOIN)
			continue;
		struct finding *finding = add_finding(diagnosis, opinion, FINDING_DEADLOCK, 1);

		add_call(diagnosis, finding, keeper->thread, "lock", blocked->holder_site, false);
		add_call(diagnosis, finding, keeper->thread, "wait", keeper->site, true);
		add_call(diagnosis, finding, blocked->thread, "lock", blocked->site, true);
		diagnosis_tell(finding, TOLD_LOCK_KEPT, keeper->thread, blocked->thread);
		return true;
	}
	return false;
}

/* The child of a fork waits for its copy of a lock that another thread held when it was made. */
static bool tell_copied_lock(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);

	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *wait = &schedule->waits[i];

		if (!wait->fork_site)
			continue;
		struct finding *finding = add_finding(diagnosis, opinion, FINDING_DEADLOCK, 1);

		add_call(diagnosis, finding, wait->holder, "lock", wait->holder_site, false);
		add_call(diagnosis, finding, wait->thread, "fork", wait->fork_site, false);
		add_call(diagnosis, finding, wait->thread, "lock", wait->site, true);
		diagnosis_tell(finding, TOLD_LOCK_COPIED, wait->thread, wait->holder);
		return true;
	}
	return false;
}

/* A thread waits for a lock of one that has ended: everybody who lives waits. */
static bool tell_left_lock(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);

	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *blocked = &schedule->waits[i];

		if (!is_lock(blocked->kind) || blocked->holder == THREAD_NONE || !blocked->holder_site ||
		    blocked->fork_site || wait_of(schedule, blocked->holder))
			continue;
		struct finding *finding = add_finding(diagnosis, opinion, FINDING_DEADLOCK, 1);

		add_call(diagnosis, finding, blocked->holder, "lock", blocked->holder_site, false);
		add_call(diagnosis, finding, blocked->thread, "lock", blocked->site, true);
		diagnosis_tell(finding, TOLD_LOCK_LEFT, blocked->holder, blocked->thread);
		return true;
	}
	return false;
}

static void tell_hang(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);
	struct finding *finding = add_finding(diagnosis, opinion, FINDING_DEADLOCK, SCORE_OF_A_HANG);

	for (size_t i = 0; i < schedule->nwaits; i++)
		if (schedule->waits[i].kind != WAITING_JOIN)
			add_call(diagnosis, finding, schedule->waits[i].thread,
				 is_lock(schedule->waits[i].kind) ? "lock" : "wait", schedule->waits[i].site,
				 true);
	diagnosis_tell(finding, TOLD_HANG, 0, 0);
}

static struct error *ask_waits(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct schedule *schedule = schedule_of(diagnosis);
	bool cycle = false;

	for (size_t i = 0; i < schedule->nwaits; i++)
		cycle |= in_cycle(schedule, schedule->waits[i].thread);
	if (cycle)
		tell_cycle(diagnosis, opinion);
	else if (schedule->nwaits) {
		/* Both may hold; the experiment on the signal tells which it was. */
		bool missed = tell_missed(diagnosis, opinion), kept = tell_kept_lock(diagnosis, opinion),
		     left = tell_left_lock(diagnosis, opinion), copied = tell_copied_lock(diagnosis, opinion);

		tell_taken(diagnosis, opinion);
		if (!missed && !kept && !left && !copied)
			tell_hang(diagnosis, opinion);
	}
	return NULL;
}

const struct method method_waits = {
	.head = { .method = "waits" },
	.ask = ask_waits,
};

static bool is_crash(const struct run *run)
{
	return run->outcome == OUTCOME_SIGNAL && (run->code == SIGSEGV || run->code == SIGBUS);
}

static void tell_fault(struct diagnosis *diagnosis, const struct event *event, bool leaves,
		       struct opinion *opinion)
{
	struct finding *finding = add_finding(diagnosis, opinion, FINDING_MEMORY, SCORE_OF_A_CRASH);
	struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE,
							   atlas_number(diagnosis->trace.atlas, event->site));

	access->thread = event->thread;
	access->kind = event->write ? SITE_WRITE : SITE_READ;
	finding_add_variable(finding, access->variable);
	diagnosis_tell(finding,
		       leaves         ? TOLD_LEAVES_MEMORY
		       : event->write ? TOLD_LAST_WRITE
				      : TOLD_LAST_READ,
		       0, 0);
}

/* Only when every schedule fails: else the crash is a symptom. What broke the memory comes before what
 * fell over it. */
static struct error *ask_fault(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct run *failure = &diagnosis->tally.failure;
	const struct observations *run = diagnosis->trace.run;

	for (size_t i = 0; i < diagnosis->opinions.n; i++)
		if (diagnosis->opinions.items[i].findings.n) /* somebody knows more than where it ends */
			return NULL;
	if (!diagnosis->always || !trace_last(&diagnosis->trace, NULL, NULL) ||
	    failure->outcome != OUTCOME_SIGNAL)
		return NULL;
	size_t left = overflow_find(run, diagnosis->trace.atlas);

	if (left < run->nevents)
		tell_fault(diagnosis, &run->events[left], true, opinion);
	else if (is_crash(failure))
		tell_fault(diagnosis, &run->events[run->nevents - 1], false, opinion);
	return NULL;
}

const struct method method_fault = {
	.head = { .method = "fault" },
	.ask = ask_fault,
};
