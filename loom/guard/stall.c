/* Stalls: small steps with back-off, looking again after each, never past the limit. The
 * steps are system calls made directly, so that no cancellation point comes into being
 * where the program has none, and errno stays as it was.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "loom/guard/guard.h"

#define SPINS 64u          /* looks before the first sleep */
#define FIRST_SLEEP_US 20u /* then twice as long each time */
#define LAST_SLEEP_US 500u
#define SETTLE_US 50u

static void sleep_us(uint64_t us)
{
	struct timespec time = { .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000 };
	int saved = errno;

	syscall(SYS_nanosleep, &time, NULL);
	errno = saved;
}

void guard_pace_start(struct guard_pace *pace, uint64_t limit_us)
{
	uint64_t now = guard_now_us();

	*pace = (struct guard_pace){ .started_us = now, .looked_us = now, .limit_us = limit_us };
}

bool guard_pace_step(struct guard_pace *pace)
{
	uint64_t now = guard_now_us(), most = pace->limit_us;
	bool weakest;

	if (guard_tally_is_held(&weakest))
		pace->held_us += now - pace->looked_us;
	else if (weakest)
		most /= 4; /* nobody else can help, so the others are not kept waiting */
	most += pace->held_us;
	most = most < guard_settings.limit_us ? most : guard_settings.limit_us;
	uint64_t waited = now - pace->started_us;

	pace->looked_us = now;
	if (waited >= most)
		return false;
	unsigned step = pace->step++;

	if (step < SPINS) {
		int saved = errno;

		if (step % 8 == 7)
			syscall(SYS_sched_yield);
		else
			__builtin_ia32_pause();
		errno = saved;
		return true;
	}
	uint64_t us = (uint64_t)FIRST_SLEEP_US << (step - SPINS < 5 ? step - SPINS : 5);

	us = us < LAST_SLEEP_US ? us : LAST_SLEEP_US;
	sleep_us(us < most - waited ? us : most - waited);
	return true;
}

void guard_pace_settle(const struct guard_pace *pace)
{
	if (pace->step > SPINS)
		sleep_us(SETTLE_US);
	else
		syscall(SYS_sched_yield);
}

/* Waits one step for whoever stands before the access now. When nobody does any more, whom it waited for stays known:
 * that thread may just have given way. */
static bool wait_for(uint64_t address, uint32_t site, struct guard_pace *pace)
{
	uint32_t before = guard_predecessor(address, site);

	if (!guard_allows(site, guard_word_site(before)))
		guard_tally_awaits(before, guard_now_us());
	return guard_pace_step(pace);
}

/* How long this thread has waited for accesses before it took the mutex that they stand behind; in vain: inside it waits
 * no more. */
#define AHEAD 8u /* of more the first are forgotten */
static __thread struct ahead {
	uint64_t address, waited_us;
	uint32_t site; /* 0: free */
	bool in_vain;
} aheads[AHEAD] __attribute__((tls_model("initial-exec")));
static __thread unsigned next_ahead __attribute__((tls_model("initial-exec")));

static struct ahead *ahead_of(uint64_t address, uint32_t site)
{
	for (unsigned i = 0; i < AHEAD; i++)
		if (aheads[i].site == site && aheads[i].address == address)
			return &aheads[i];
	return NULL;
}

/* Once such an access is noted it may not come a second time. */
static bool waits_its_turn(uint32_t site)
{
	return unsnarl_guard_data->traits[site] & GUARD_TURN;
}

/* Who was there right before the noted access, and let it come, may have been only halfway, and wait for it now. */
static bool is_halfway(uint64_t address, uint32_t site, const struct guard_note *note)
{
	uint32_t by = guard_word_thread((uint32_t)note->before); /* whoever did the last access */

	return guard_tally_is_awaited(address, guard_word(site, guard_self), by, note->at_us);
}

/* It is noted, but has not been done yet: so the other one goes first. */
static bool gives_way(uint64_t address, uint32_t site, const struct guard_note *note)
{
	return is_halfway(address, site, note) && guard_note_undo(address, site, note);
}

/* Notes the access if it may come now, and gives who let it come a moment. On a busy machine that moment may be long,
 * and others may have been there in it: then it has to wait again. */
static bool note_and_settle(uint64_t address, uint32_t site, const struct guard_pace *pace,
			    struct guard_note *note)
{
	/* To whom this thread gave way has not come yet. */
	if (is_halfway(address, site, note))
		return false;
	/* The time is taken first: who looks right behind the note has seen it. */
	uint64_t now = guard_now_us();

	if (!guard_note_for_now(address, site, note))
		return false;
	note->at_us = now;
	guard_pace_settle(pace);
	return !gives_way(address, site, note) && (waits_its_turn(site) || guard_may_follow(address, site));
}

/* False when the access has to wait once more. */
static bool stall_once(uint64_t address, uint32_t site, struct guard_note *note)
{
	uint32_t before = guard_predecessor(address, site);
	struct guard_violation violation = { .address = address,
					     .site = guard_word(site, guard_self),
					     .before = before };
	struct ahead *ahead = ahead_of(address, site);
	bool waited = ahead && ahead->in_vain;
	struct guard_pace pace;

	uint64_t limit = waited ? 0 : guard_tally_limit(site, guard_word_site(before));

	if (!limit && !waited) { /* in vain so often that it is only counted, without a look at the clock */
		violation.resolved = guard_note(address, site, false);
		if (!violation.resolved && guard_note(address, site, true))
			guard_tally(&violation);
		return true;
	}
	guard_pace_start(&pace, limit);
	note->stalled_us = note->stalled_us ? note->stalled_us : pace.started_us;
	pace.started_us = note->stalled_us; /* all together no longer than the limit */
	guard_tally_begin(&violation, &pace);
	do
		violation.resolved = note_and_settle(address, site, &pace, note);
	while (!violation.resolved && wait_for(address, site, &pace));
	if (!violation.resolved)
		guard_note(address, site, true);
	violation.waited_us = guard_now_us() - pace.started_us + (waited ? ahead->waited_us : 0);
	if (ahead)
		ahead->site = 0;
	/* A line in the log takes a while: until it is written this access may still give way, and who gave way to it
	 * waits. */
	guard_tally(&violation);
	bool done = !violation.resolved || violation.waited_us >= guard_settings.limit_us ||
		    !gives_way(address, site, note);

	guard_tally_ended();
	return done;
}

void guard_stall(uint64_t address, uint32_t site)
{
	struct guard_note note = { .at_us = UINT64_MAX };

	while (!stall_once(address, site, &note))
		;
}

/* Has nobody the mutex? Its first word is 0 then. */
static bool is_free(const int *mutex)
{
	return __atomic_load_n(mutex, __ATOMIC_ACQUIRE) == 0;
}

/* One look before the mutex is taken. *violated from the moment on when it was free, not resolved, free and
 * still not resolved: then nobody was in the middle of anything. */
static bool look_ahead(uint64_t address, uint32_t site, const int *mutex, bool *violated)
{
	bool was_free = is_free(mutex);

	if (*violated)
		return was_free && (waits_its_turn(site) ? guard_may_follow(address, site)
							 : guard_note(address, site, false));
	if (guard_may_follow(address, site))
		return true;
	if (was_free && is_free(mutex))
		*violated = !guard_may_follow(address, site);
	return false;
}

static void remember_ahead(uint64_t address, const struct guard_violation *violation)
{
	uint32_t site = guard_word_site(violation->site);
	struct ahead *known = ahead_of(address, site), *ahead = known ? known : &aheads[next_ahead++ % AHEAD];

	*ahead = (struct ahead){ .address = address,
				 .waited_us = violation->waited_us,
				 .site = site,
				 .in_vain = !violation->resolved };
}

void guard_stall_ahead(uint64_t address, uint32_t site, const int *mutex)
{
	uint32_t before = guard_predecessor(address, site);
	struct guard_violation violation = { .address = address,
					     .site = guard_word(site, guard_self),
					     .before = before };
	struct guard_pace pace;
	bool violated = false;

	guard_pace_start(&pace, guard_tally_limit(site, guard_word_site(before)));
	guard_tally_begin(&violation, &pace);
	do
		violation.resolved = look_ahead(address, site, mutex, &violated);
	while (!violation.resolved && wait_for(address, site, &pace));
	guard_tally_ended();
	violation.waited_us = guard_now_us() - pace.started_us;
	remember_ahead(address, &violation);
	if (violation.resolved && violated) {
		guard_pace_settle(&pace);
		guard_tally(&violation);
	}
}

/* Is it a mutex of the plain kind, that can be given back and taken again and nobody knows? Others count, check or
 * tell who died with them. */
static bool is_plain(const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & 127) == PTHREAD_MUTEX_TIMED_NP;
}

void guard_stall_locked(uint64_t address, uint32_t site, void *mutex)
{
	uint32_t before = guard_predecessor(address, site);
	struct guard_violation violation = { .address = address,
					     .site = guard_word(site, guard_self),
					     .before = before };
	const struct ahead *ahead = ahead_of(address, site);
	uint64_t limit = guard_tally_limit(site, guard_word_site(before)),
		 waited = ahead ? ahead->waited_us : 0;
	struct guard_pace pace;

	if ((ahead && ahead->in_vain) || waited >= limit || !is_plain(mutex))
		return;
	guard_pace_start(&pace, limit - waited);
	guard_tally_begin(&violation, &pace);
	for (bool more = true; more && !violation.resolved;) {
		pthread_mutex_unlock(mutex);
		more = wait_for(address, site, &pace);
		pthread_mutex_lock(mutex);
		violation.resolved = guard_may_follow(address, site);
	}
	guard_tally_ended();
	violation.waited_us = waited + guard_now_us() - pace.started_us;
	remember_ahead(address, &violation);
	if (violation.resolved)
		guard_tally(&violation);
}
