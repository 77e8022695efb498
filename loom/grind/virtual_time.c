/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time in controlled runs: it passes a little at every point and jumps when a
 * sleeper is chosen or nobody else can run. Every run starts at the same time, so
 * that a program that prints the time prints the same. */
#include "loom/grind/system_calls.h"

#define REALTIME_START (1767225600ull * SECOND) /* 1 January 2026 */
#define MONOTONIC_START (1000ull * SECOND)
#define CLOCK_READ_NS 1000u
#define CLOCK_PATIENCE 100u /* readings in a row: then the thread waits for the clock */

static uint64_t clock_start(UWord clock)
{
	switch (clock) {
	case 0:  /* CLOCK_REALTIME */
	case 5:  /* CLOCK_REALTIME_COARSE */
	case 11: /* CLOCK_TAI */
		return REALTIME_START;
	case 2: /* CLOCK_PROCESS_CPUTIME_ID */
	case 3: /* CLOCK_THREAD_CPUTIME_ID */
		return 0;
	default:
		return MONOTONIC_START;
	}
}

/* A reading of the clock takes time; one who does nothing else waits for it to pass. */
static uint64_t clock_now(void)
{
	struct agent *me = grind.thread->agent;

	if (!grind.controlled || !me) {
		control.now += CLOCK_READ_NS;
		return control.now;
	}
	me->clock_reads = me->streak ? me->clock_reads + 1 : 0;
	control.now = time_of(me); /* from here on the others could tell */
	if (me->clock_reads <= CLOCK_PATIENCE) {
		control.now += CLOCK_READ_NS;
		return control.now;
	}
	control.now += 1000000u;
	control_call(site_of_call(SITE_SYNC, "clock_gettime"), 0);
	return control.now;
}

bool is_time(const struct vki_timespec *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < (long)SECOND;
}

uint64_t nanoseconds(const struct vki_timespec *time)
{
	uint64_t seconds = (uint64_t)time->tv_sec;

	return seconds > NEVER / SECOND / 4 ? NEVER / 2 : seconds * SECOND + (uint64_t)time->tv_nsec;
}

uint64_t deadline_at(UWord clock, const struct vki_timespec *when)
{
	uint64_t at = nanoseconds(when), start = clock_start(clock);

	return at > start ? at - start : 0;
}

uint64_t deadline_in(uint64_t length)
{
	const struct agent *me = grind.thread->agent;

	return length > NEVER / 2 ? NEVER - 1 : (me ? time_of(me) : control.now) + length;
}

static void write_time(Addr place, uint64_t at, uint64_t fraction)
{
	uint64_t *words = (uint64_t *)place;

	words[0] = at / SECOND;
	words[1] = at % SECOND / fraction;
}

/* Sleeps in virtual time. What a signal leaves of it is written to `left`, unless that is NULL. */
static void sleep_until(const struct call *call, const char *name, uint64_t deadline, Addr left)
{
	struct agent *me = grind.thread->agent;

	if (!grind.controlled || !me) {
		if (deadline > control.now && deadline != NEVER)
			control.now = deadline;
		answer(call, 0);
		return;
	}
	me->site = site_of_call(SITE_SYNC, name);
	me->access = POINT_SYNC;
	me->thread->calls = WAIT_NOTHING;
	if (deadline <= time_of(me)) {
		control_call(me->site, 0);
	} else if (control_wait(me, WAIT_SLEEP, 0, deadline) == WAIT_INTERRUPTED) {
		if (left)
			write_time(left, deadline > time_of(me) ? deadline - time_of(me) : 0, 1);
		answer(call, -VKI_EINTR);
		return;
	}
	answer(call, 0);
}

bool time_call(const struct call *call)
{
	const UWord *a = call->a;

	switch (call->number) {
	case __NR_clock_gettime:
		write_time(a[1], clock_start(a[0]) + clock_now(), 1);
		answer(call, 0);
		return true;
	case __NR_gettimeofday:
		if (a[0])
			write_time(a[0], REALTIME_START + clock_now(), 1000);
		answer(call, 0);
		return true;
	case __NR_time: {
		uint64_t now = (REALTIME_START + clock_now()) / SECOND;

		if (a[0])
			*(uint64_t *)a[0] = now;
		answer(call, (long)now);
		return true;
	}
	case __NR_nanosleep:
		if (!is_time((struct vki_timespec *)a[0]))
			return false;
		sleep_until(call, "nanosleep", deadline_in(nanoseconds((struct vki_timespec *)a[0])), a[1]);
		return true;
	case __NR_clock_nanosleep:
		if (!is_time((struct vki_timespec *)a[2]))
			return false;
		sleep_until(call, "nanosleep",
			    a[1] & 1 ? deadline_at(a[0], (struct vki_timespec *)a[2])
				     : deadline_in(nanoseconds((struct vki_timespec *)a[2])),
			    a[1] & 1 ? 0 : a[3]);
		return true;
	default:
		return false;
	}
}
