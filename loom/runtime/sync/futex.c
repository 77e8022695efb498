/* syscall(), for the futexes that libraries build upon (std::atomic's wait and
 * notify). All other system calls go straight to the kernel, as in libc. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

static long futex_wait(struct agent *me, const uint32_t *place, uint32_t value, uint64_t deadline)
{
	control_call(me, place);
	/* Pairs with whatever the waker stored before its wake; only the holder of the token runs. */
	if (__atomic_load_n(place, __ATOMIC_ACQUIRE) != value)
		return -EAGAIN;
	object_at((uint64_t)place);
	if (waking_at_once(me, (uint64_t)place))
		return 0;
	switch (control_wait(me, WAIT_ADDRESS, (uint64_t)place, deadline)) {
	case WAIT_TIMED_OUT:
		return -ETIMEDOUT;
	case WAIT_INTERRUPTED:
		return -EINTR;
	default:
		return 0;
	}
}

static long futex_wake(struct agent *me, const uint32_t *place, int most)
{
	control_call(me, place);
	long woken = 0;
	uint32_t waiting = control.nblocked;
	if (most == INT_MAX) {
		control_wake(WAIT_ADDRESS, (uint64_t)place);
		woken = waiting - control.nblocked;
	}
	while (woken < most && control_wake_one(WAIT_ADDRESS, (uint64_t)place))
		woken++;
	struct object *object = object_at((uint64_t)place);
	object->missed = woken == 0;
	object->missed_thread = me->number;
	object->missed_site = me->site;
	if (woken == 0)
		waking_missed(me, (uint64_t)place);
	return woken;
}

/* When a futex wait ends: relative to now, or a point in time of its clock. */
static bool futex_deadline(int operation, const struct timespec *time, uint64_t *deadline)
{
	*deadline = NEVER;
	if (!time)
		return true;
	clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	if (!clock_deadline(clock, time, deadline))
		return false;
	if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
		*deadline = control.now + (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
	return true;
}

/* False when this operation is not modelled. */
static bool futex_call(struct agent *me, const long a[6], long *result)
{
	const uint32_t *place = (const uint32_t *)a[0];
	int operation = (int)a[1];
	uint64_t deadline;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		*result = futex_deadline(operation, (const struct timespec *)a[3], &deadline)
				  ? futex_wait(me, place, (uint32_t)a[2], deadline)
				  : -EINVAL;
		return true;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		*result = futex_wake(me, place, (int)a[2]);
		return true;
	default:
		control_uncontrolled("futex operations other than wait and wake");
		return false;
	}
}

/* All others may be about the kernel's thread. */
static bool is_of_process(long number)
{
	return number == SYS_mmap || number == SYS_munmap || number == SYS_getrandom ||
	       number == SYS_openat || number == SYS_close || number == SYS_getpid ||
	       number == SYS_membarrier;
}

INTERPOSE long syscall(long number, ...)
{
	long a[6], result;
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex) {
		struct agent *me = control_me();
		if (me && futex_call(me, a, &result))
			return with_errno(result);
	} else if (UNLIKELY(runtime.controlled) && !is_of_process(number)) {
		struct agent *me = control_enter();
		if (me)
			token_carry_no_more(me);
	}
	return with_errno(raw_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
