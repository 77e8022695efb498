/* Hangs that the schedule itself explains: a lock that was never given back, threads that
 * wait for each other's locks, a lock that is kept during a wait, and a signal that came
 * before its thread waited. All but the first are told by an experiment as well: one of
 * the threads waits before it takes the lock that it has, or before it looks whether it
 * has to wait. */
#include "isolate/order_check.h"

#include <string.h>

#include "base/memory.h"

static bool is_lock(enum schedule_waiting kind)
{
	return kind == WAITING_MUTEX || kind == WAITING_READ_LOCK || kind == WAITING_WRITE_LOCK ||
	       kind == WAITING_SPINLOCK;
}

static const struct schedule *ended(const struct order_search *search)
{
	return &search->isolation->original.schedule;
}

static const struct schedule_wait *lock_wait_of(const struct schedule *schedule, uint32_t thread)
{
	for (size_t i = 0; i < schedule->nwaits; i++)
		if (schedule->waits[i].thread == thread && is_lock(schedule->waits[i].kind) &&
		    schedule->waits[i].holder != THREAD_NONE)
			return &schedule->waits[i];
	return NULL;
}

static bool is_in_cycle(const struct schedule *schedule, uint32_t thread)
{
	uint32_t now = thread;

	for (size_t steps = 0; steps <= schedule->nwaits; steps++) {
		const struct schedule_wait *wait = lock_wait_of(schedule, now);

		if (!wait || wait->holder == now)
			return false;
		now = wait->holder;
		if (now == thread)
			return true;
	}
	return false;
}

static void add_call(struct order_search *search, uint32_t thread, const char *role, uint64_t id,
		     bool missing)
{
	struct finding *finding = &search->isolation->finding;
	const struct site *site = id ? atlas_find(&search->atlas, id) : NULL;

	if (!site)
		return;
	struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE, site);

	access->thread = thread;
	access->kind = SITE_SYNC;
	access->role = role;
	access->missing = missing;
}

/* When the thread took the lock that `waiter` wants for the last time; ncalls: never. */
static size_t taken_by(const struct order_search *search, const struct schedule_wait *waiter)
{
	const struct observations *trace = search->trace;
	size_t taken = trace->ncalls;

	for (size_t i = 0; i < trace->ncalls; i++)
		if (trace->calls[i].kind == CALL_ACQUIRE && trace->calls[i].thread == waiter->holder &&
		    trace->calls[i].object == waiter->address)
			taken = i;
	return taken;
}

/* The thread waits before it takes the lock that `waiter` wants, until the waiter has come to where it was stuck. */
static struct error *let_first(struct order_search *search, const struct schedule_wait *waiter,
			       struct order_move *out)
{
	const struct observations *trace = search->trace;
	size_t taken = taken_by(search, waiter);
	struct claim claim = { .kind = CLAIM_ORDER_ONCE, .use = CLAIM_FORBID, .nsteps = 2, .nroles = 2 };
	struct claim_parts parts = { 0 };

	const struct site *site =
		taken < trace->ncalls ? atlas_number(&search->atlas, trace->calls[taken].site) : NULL;

	*out = (struct order_move){ 0 };
	if (!site || !waiter->site)
		return NULL;
	claim.steps[0] = (struct claim_step){ .sites = { site->id },
					      .nsites = 1,
					      .thread = waiter->holder,
					      .occurrence = order_accesses(trace, waiter->holder,
									   trace->calls[taken].before),
					      .write = 1 };
	claim.steps[1] =
		(struct claim_step){ .sites = { waiter->site },
				     .nsites = 1,
				     .role = 1,
				     .thread = waiter->thread,
				     .occurrence = order_accesses(trace, waiter->thread, trace->nevents),
				     .write = 1 };
	parts.items[parts.n++] =
		(struct claim_part){ .site = site, .thread = waiter->holder, .at = CLAIM_NOT_TRACED };
	return claim_is_sound(&claim) ? order_run_once(search, &claim, &parts, CLAIM_ATOMIC, out) : NULL;
}

static void tell(struct order_search *search, enum isolate_story story)
{
	struct finding *finding = &search->isolation->finding;

	finding_free(finding);
	*finding = (struct finding){ .rank = 1,
				     .class = FINDING_DEADLOCK,
				     .score = 1,
				     .method = memory_string("suppress"),
				     .summary = memory_string(isolate_order_words(story)) };
}

static bool is_waiting(const struct schedule *schedule, uint32_t thread)
{
	for (size_t i = 0; i < schedule->nwaits; i++)
		if (schedule->waits[i].thread == thread)
			return true;
	return false;
}

/* The last write of the holder in the function that took the lock, before that was left or the lock was wanted again. */
static void add_last_write(struct order_search *search, size_t taken)
{
	const struct observations *trace = search->trace;
	const struct call *call = &trace->calls[taken];
	const struct site *lock = atlas_number(&search->atlas, call->site), *last = NULL;

	for (size_t i = call->before; lock && i < trace->nevents; i++) {
		const struct site *site = trace->events[i].thread == call->thread
						  ? atlas_number(&search->atlas, trace->events[i].site)
						  : NULL;

		if (!site || strcmp(site->function, lock->function))
			continue;
		if (site->line <= lock->line)
			break;
		if (trace->events[i].write)
			last = site;
	}
	if (!last)
		return;
	struct finding_access *access =
		finding_add_access(&search->isolation->finding.accesses, FINDING_NO_SITE, last);

	access->thread = call->thread;
	access->kind = SITE_WRITE;
}

/* A lock is wanted by the thread that has it, or the thread that has it is over: nobody will give it back. */
static struct error *check_not_given_back(struct order_search *search)
{
	const struct schedule *schedule = ended(search);
	const struct schedule_wait *wait = NULL;

	for (size_t i = 0; i < schedule->nwaits && !wait; i++) {
		const struct schedule_wait *at = &schedule->waits[i];

		if (is_lock(at->kind) && at->holder != THREAD_NONE &&
		    (at->holder == at->thread || !is_waiting(schedule, at->holder)))
			wait = at;
	}
	if (!wait)
		return NULL;
	size_t taken = taken_by(search, wait);

	tell(search, ORDER_NOT_GIVEN_BACK);
	add_call(search, wait->holder, "lock", wait->holder_site, false);
	if (taken < search->trace->ncalls)
		add_last_write(search, taken);
	add_call(search, wait->thread, "lock", wait->site, true);
	search->found = search->isolation->finding.accesses.n > 0;
	search->verdict = ISOLATE_KEPT_LOCK;
	return NULL;
}

/* First what each of them has, then where each is stuck. The cycle itself is the proof: nobody in it can go on. */
static struct error *check_cycle(struct order_search *search)
{
	const struct schedule *schedule = ended(search);
	const struct schedule_wait *first = NULL;
	struct finding *finding = &search->isolation->finding;
	struct order_move move = { 0 };

	for (size_t i = 0; i < schedule->nwaits && !first; i++)
		if (is_in_cycle(schedule, schedule->waits[i].thread))
			first = lock_wait_of(schedule, schedule->waits[i].thread);
	if (!first)
		return NULL;
	TRY(let_first(search, first, &move));
	tell(search, move.passes ? ORDER_CYCLE_MENDED : ORDER_CYCLE);
	for (size_t i = 0; i < schedule->nwaits; i++)
		if (is_in_cycle(schedule, schedule->waits[i].thread)) {
			const struct schedule_wait *wait = lock_wait_of(schedule, schedule->waits[i].thread);

			add_call(search, wait->holder, "lock", wait->holder_site, false);
		}
	for (size_t i = 0; i < schedule->nwaits; i++)
		if (is_in_cycle(schedule, schedule->waits[i].thread))
			add_call(search, schedule->waits[i].thread, "lock",
				 lock_wait_of(schedule, schedule->waits[i].thread)->site, true);
	search->found = finding->accesses.n > 0;
	search->isolation->sure = search->found;
	search->weight = ORDER_SURE;
	return NULL;
}

/* The last look of the waiting thread at what the signalling one changed after that. */
static bool find_look(const struct observations *trace, const struct schedule_wait *wait, size_t *read,
		      size_t *write)
{
	for (size_t i = trace->nevents; i-- > 0;) {
		const struct event *look = &trace->events[i];

		if (look->thread != wait->thread || look->write)
			continue;
		for (size_t j = i + 1; j < trace->nevents; j++) {
			const struct event *change = &trace->events[j];

			if (change->write && change->thread == wait->missed_thread &&
			    change->address < look->address + look->size &&
			    look->address < change->address + change->size) {
				*read = i;
				*write = j;
				return true;
			}
		}
	}
	return false;
}

static struct error *check_missed(struct order_search *search, const struct schedule_wait *wait)
{
	struct order_move move;
	size_t read, write;

	if (!find_look(search->trace, wait, &read, &write))
		return NULL;
	struct claim_parts pair = order_parts(search, (const size_t[]){ read, write }, 2);

	TRY(order_wait_for(search, read, write, CLAIM_ORDER, &move));
	if (!move.passes)
		return NULL;
	order_tell(search, FINDING_LOST_WAKEUP, ORDER_MISSED, move.given_up ? ORDER_GIVEN_UP : ORDER_SHOWN,
		   &pair);
	add_call(search, wait->missed_thread, "signal", wait->missed_site, false);
	add_call(search, wait->thread, "wait", wait->site, false);
	return NULL;
}

/* What the thread had looked at last before it waits, since it took its lock, and another has changed since: the last such
 * change. */
static bool find_unsaid(const struct observations *trace, const struct schedule_wait *wait, size_t *read,
			size_t *write)
{
	bool found = false;

	for (size_t i = trace->nevents; i-- > 0;) {
		const struct event *look = &trace->events[i];

		if (look->thread != wait->thread)
			continue;
		if (look->write) /* of an earlier section */
			break;
		for (size_t j = i + 1; j < trace->nevents; j++) {
			const struct event *change = &trace->events[j];

			if (change->write && change->thread != wait->thread &&
			    change->address < look->address + look->size &&
			    look->address < change->address + change->size && (!found || j > *write)) {
				*read = i;
				*write = j;
				found = true;
			}
		}
	}
	return found;
}

/* A thread waits on a condition although what it had looked at has changed: the change was told to nobody, or to others. */
static struct error *check_unsaid(struct order_search *search, const struct schedule_wait *wait)
{
	struct order_move move;
	size_t read, write;

	if (wait->kind != WAITING_CONDITION || !find_unsaid(search->trace, wait, &read, &write))
		return NULL;
	struct claim_parts pair = order_parts(search, (const size_t[]){ read, write }, 2);

	TRY(order_wait_for(search, read, write, CLAIM_ORDER, &move));
	if (!move.passes)
		return NULL;
	order_tell(search, FINDING_LOST_WAKEUP, ORDER_UNSAID, move.given_up ? ORDER_GIVEN_UP : ORDER_SHOWN,
		   &pair);
	add_call(search, wait->thread, "wait", wait->site, true);
	return NULL;
}

static bool touches(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

#define WORDS 8   /* writes of the waiting thread, the last ones */
#define BEFORE 64 /* events before a write in which what led to it was read */

/* The last read of that location by the other thread before `at`, unless it came back to it since. */
static size_t last_look(const struct observations *trace, size_t at, uint32_t thread)
{
	for (size_t i = at + 1; i < trace->nevents; i++)
		if (trace->events[i].thread == thread && touches(&trace->events[i], &trace->events[at]))
			return ORDER_NONE;
	for (size_t i = at; i-- > 0;)
		if (trace->events[i].thread == thread && !trace->events[i].write &&
		    touches(&trace->events[i], &trace->events[at]))
			return i;
	return ORDER_NONE;
}

/* The thread that waits had left word that it does, behind the back of one that had looked for such words already and
 * changes what the waiting one had gone by. Either the look and the change were to be one, and the word came between
 * them; or what the waiting one went by and its word were, and look and change came between. The events in order: the
 * second one came between. */
static bool find_overlooked(const struct observations *trace, size_t word, size_t group[4])
{
	uint32_t waiting = trace->events[word].thread;

	for (size_t by = word; by-- > 0 && word - by < BEFORE;) {
		const struct event *went_by = &trace->events[by];

		for (size_t change = by + 1;
		     went_by->thread == waiting && !went_by->write && change < trace->nevents; change++) {
			const struct event *changed = &trace->events[change];

			if (!changed->write || changed->thread == waiting || !touches(changed, went_by))
				continue;
			size_t look = last_look(trace, word, changed->thread);

			if (look == ORDER_NONE || (look < by) != (change > word))
				continue;
			if (change > word)
				memcpy(group, (const size_t[]){ look, by, word, change }, 4 * sizeof *group);
			else
				memcpy(group,
				       (const size_t[]){ by, look < change ? look : change,
							 look < change ? change : look, word },
				       4 * sizeof *group);
			return true;
		}
	}
	return false;
}

static struct error *check_overlooked(struct order_search *search, const struct schedule_wait *wait)
{
	size_t group[4];
	int words = 0;

	if (is_lock(wait->kind) || wait->kind == WAITING_JOIN)
		return NULL;
	for (size_t word = search->trace->nevents; word-- > 0 && words < WORDS && !search->found;) {
		const struct event *event = &search->trace->events[word];

		if (event->thread != wait->thread || !event->write)
			continue;
		words++;
		if (find_overlooked(search->trace, word, group))
			TRY(order_check_group(search, group, 4, group[1], FINDING_MULTI_ATOMICITY));
	}
	if (search->found)
		add_call(search, wait->thread, "wait", wait->site, true);
	return NULL;
}

/* A thread waits for another's doing while it has a lock that somebody wants. One time of it may be mended and the next
 * one hang: then only the hang itself speaks for it. */
static struct error *check_kept(struct order_search *search, const struct schedule_wait *blocked)
{
	const struct schedule *schedule = ended(search);
	const struct schedule_wait *keeper = NULL;
	struct order_move move = { 0 };

	for (size_t i = 0; i < schedule->nwaits; i++)
		if (is_lock(blocked->kind) && schedule->waits[i].thread == blocked->holder)
			keeper = &schedule->waits[i];
	if (!keeper || is_lock(keeper->kind) || keeper->kind == WAITING_JOIN)
		return NULL;
	TRY(let_first(search, blocked, &move));
	tell(search, move.passes ? ORDER_KEPT_MENDED : ORDER_KEPT);
	add_call(search, keeper->thread, "lock", blocked->holder_site, false);
	add_call(search, keeper->thread, "wait", keeper->site, true);
	add_call(search, blocked->thread, "lock", blocked->site, true);
	search->found = search->isolation->finding.accesses.n > 0;
	return NULL;
}

struct error *order_check_hang(struct order_search *search)
{
	const struct schedule *schedule = ended(search);

	TRY(check_not_given_back(search));
	if (!search->found && search->isolation->original.outcome == OUTCOME_DEADLOCK)
		TRY(check_cycle(search));
	for (size_t i = 0; i < schedule->nwaits && !search->found && !order_is_over(search); i++)
		if (schedule->waits[i].missed_site)
			TRY(check_missed(search, &schedule->waits[i]));
	for (size_t i = 0; i < schedule->nwaits && !search->found && !order_is_over(search); i++)
		TRY(check_unsaid(search, &schedule->waits[i]));
	for (size_t i = 0; i < schedule->nwaits && !search->found && !order_is_over(search); i++)
		TRY(check_overlooked(search, &schedule->waits[i]));
	for (size_t i = 0; i < schedule->nwaits && !search->found && !order_is_over(search); i++)
		TRY(check_kept(search, &schedule->waits[i]));
	return NULL;
}
