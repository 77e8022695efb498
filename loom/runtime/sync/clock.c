/* Virtual time: in a controlled run time passes a little at every point and jumps
 * when a sleeper is chosen or nobody else can run. Every run starts at the same
 * time, so that a program that prints the time prints the same. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define REALTIME_START (1767225600ull * SECOND) /* 1 January 2026 */
#define MONOTONIC_START (1000ull * SECOND)
#define CLOCK_READ_NS 1000u
#define CLOCK_PATIENCE 100u /* readings in a row: then the thread waits for the clock */

static uint64_t clock_start(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return REALTIME_START;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
		return 0;
	default:
		return MONOTONIC_START;
	}
}

bool clock_deadline(clockid_t clock, const struct timespec *when, uint64_t *deadline)
{
	if (when->tv_nsec < 0 || when->tv_nsec >= (long)SECOND)
		return false;
	uint64_t start = clock_start(clock);
	if (when->tv_sec < 0) {
		*deadline = 0;
		return true;
	}
	uint64_t seconds = (uint64_t)when->tv_sec;
	uint64_t at = seconds > NEVER / SECOND / 2 ? NEVER - 1 : seconds * SECOND + (uint64_t)when->tv_nsec;
	*deadline = at > start ? at - start : 0;
	return true;
}

/* A reading of the clock takes time; one who does nothing else waits for it to pass. */
static uint64_t clock_now(struct agent *me)
{
	me->clock_reads++;
	if (me->streak == 0)
		me->clock_reads = 0;
	control.now = time_of(me); /* from here on the others could tell */
	uint32_t over = me->clock_reads > CLOCK_PATIENCE ? me->clock_reads - CLOCK_PATIENCE : 0;
	control.now += over ? 1000000ull : CLOCK_READ_NS;
	if (over)
		control_call(me, NULL);
	return control.now;
}

INTERPOSE int clock_gettime(clockid_t clock, struct timespec *now)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(clock_gettime)(clock, now);
	uint64_t at = clock_start(clock) + clock_now(me);
	now->tv_sec = (time_t)(at / SECOND);
	now->tv_nsec = (long)(at % SECOND);
	return 0;
}

INTERPOSE int timespec_get(struct timespec *now, int base)
{
	if (base == TIME_UTC && control_me())
		return clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
	return REAL(timespec_get)(now, base);
}

/* libc declares its last argument differently in C and C++. */
INTERPOSE int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(gettimeofday)(now, zone);
	uint64_t at = REALTIME_START + clock_now(me);
	now->tv_sec = (time_t)(at / SECOND);
	now->tv_usec = (suseconds_t)(at % SECOND / 1000);
	return 0;
}

INTERPOSE time_t time(time_t *place)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(time)(place);
	time_t now = (time_t)((REALTIME_START + clock_now(me)) / SECOND);
	if (place)
		*place = now;
	return now;
}

/* ---- sleeping ---- */

/* Returns what is left when interrupted, in ns. */
static uint64_t sleep_until(struct agent *me, uint64_t deadline)
{
	control_note_site(me, NULL);
	cancel_point(me);
	if (deadline <= time_of(me)) {
		control_call(me, NULL);
		return 0;
	}
	enum wait_result result = control_wait(me, WAIT_SLEEP, 0, deadline);
	cancel_point(me);
	return result == WAIT_INTERRUPTED && deadline > time_of(me) ? deadline - time_of(me) : 0;
}

static uint64_t duration(const struct timespec *time)
{
	uint64_t seconds = (uint64_t)time->tv_sec;
	return seconds > NEVER / SECOND / 4 ? NEVER / 2 : seconds * SECOND + (uint64_t)time->tv_nsec;
}

static bool is_duration(const struct timespec *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < (long)SECOND;
}

static void note_left(uint64_t rest, struct timespec *left)
{
	if (left)
		*left = (struct timespec){ .tv_sec = (time_t)(rest / SECOND),
					   .tv_nsec = (long)(rest % SECOND) };
}

int sleep_for(struct agent *me, const struct timespec *time, struct timespec *left)
{
	if (!is_duration(time))
		return EINVAL;
	uint64_t rest = sleep_until(me, time_of(me) + duration(time));
	if (rest)
		note_left(rest, left);
	return rest ? EINTR : 0;
}

INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	struct agent *me = control_me();
	uint64_t deadline;
	if (!me)
		return REAL(clock_nanosleep)(clock, flags, time, left);
	if (!(flags & TIMER_ABSTIME))
		return sleep_for(me, time, left);
	if (!clock_deadline(clock, time, &deadline))
		return EINVAL;
	return sleep_until(me, deadline) ? EINTR : 0;
}

INTERPOSE int nanosleep(const struct timespec *time, struct timespec *left)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(nanosleep)(time, left);
	int result = sleep_for(me, time, left);
	if (result)
		errno = result;
	return result ? -1 : 0;
}

INTERPOSE unsigned sleep(unsigned seconds)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(sleep)(seconds);
	return (unsigned)((sleep_until(me, time_of(me) + seconds * SECOND) + SECOND - 1) / SECOND);
}

INTERPOSE int usleep(useconds_t us)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(usleep)(us);
	if (sleep_until(me, time_of(me) + us * 1000ull) == 0)
		return 0;
	errno = EINTR;
	return -1;
}

/* ---- time that was used ---- */

INTERPOSE clock_t clock(void)
{
	struct agent *me = control_me();
	return me ? (clock_t)(clock_now(me) * CLOCKS_PER_SEC / SECOND) : REAL(clock)();
}

INTERPOSE clock_t times(struct tms *used)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(times)(used);
	clock_t ticks = (clock_t)(clock_now(me) / (SECOND / (uint64_t)sysconf(_SC_CLK_TCK)));
	*used = (struct tms){ .tms_utime = ticks };
	return ticks;
}

/* ---- yielding ---- */

void yield_point(struct agent *me)
{
	me->yields = true;
	control_call(me, NULL);
}

INTERPOSE int sched_yield(void)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(sched_yield)();
	yield_point(me);
	return 0;
}
