/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Futexes, to which all synchronisation of libc and the C++ library comes down:
 * those who wait are left out, those who wake choose among them. */
#include "loom/grind/system_calls.h"

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_LOCK_PI 6
#define FUTEX_UNLOCK_PI 7
#define FUTEX_TRYLOCK_PI 8
#define FUTEX_LOCK_PI2 13
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_COMMAND 127
#define FUTEX_PRIVATE 128
#define FUTEX_REALTIME 256

static bool is_at_futex(const struct agent *agent, Addr object)
{
	return agent->wait == WAIT_ADDRESS && agent->object == object;
}

/* In memory that other processes may have: has one of them changed it? */
static bool futex_look(struct agent *agent)
{
	return *(const uint32_t *)agent->object != (uint32_t)(Addr)agent->looked;
}

static void look_for_others(struct agent *me, const struct call *call)
{
	if (!children_made || call->a[1] & FUTEX_PRIVATE)
		return;
	me->look = futex_look;
	me->looked = (const void *)(call->a[2] & UINT32_MAX);
}

static long futex_wait(const struct call *call, bool absolute)
{
	const UWord *a = call->a;
	const struct vki_timespec *time = (const struct vki_timespec *)a[3];
	uint64_t deadline = NEVER;
	struct agent *me = grind.thread->agent;

	if (*(uint32_t *)a[0] != (uint32_t)a[2])
		return -VKI_EAGAIN;
	if (time && !is_time(time))
		return -VKI_EINVAL;
	if (time)
		deadline = absolute ? deadline_at(a[1] & FUTEX_REALTIME ? 0 : 1, time)
				    : deadline_in(nanoseconds(time));
	me->site = me->thread->calls ? me->thread->call_site : site_of_call(SITE_SYNC, "futex");
	if (deadline <= time_of(me))
		return -E_TIMED_OUT;
	look_for_others(me, call);
	switch (control_wait(me, WAIT_ADDRESS, a[0], deadline)) {
	case WAIT_TIMED_OUT:
		return -E_TIMED_OUT;
	case WAIT_INTERRUPTED:
		return -VKI_EINTR;
	default:
		return 0;
	}
}

/* Those who wait at one place wait at another from here on. */
static uint32_t requeue(Addr from, Addr to, uint32_t most)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < control.nblocked && n < most; i++)
		if (is_at_futex(control.blocked[i], from)) {
			control.blocked[i]->object = to;
			n++;
		}
	return n;
}

#define PI_OWNER 0x3fffffffu
#define PI_WAITERS 0x80000000u

/* Mutexes with priority inheritance: the word names the thread that has it. */
static long futex_lock_pi(const struct call *call, bool waits, uint64_t deadline)
{
	uint32_t *word = (uint32_t *)call->a[0];
	struct agent *me = grind.thread->agent;

	while (*word & PI_OWNER) {
		if ((*word & PI_OWNER) == (uint32_t)grind.thread->lwp)
			return -E_DEADLOCK;
		if (!waits)
			return -VKI_EAGAIN;
		*word |= PI_WAITERS;
		me->site = me->thread->calls ? me->thread->call_site : site_of_call(SITE_SYNC, "futex");
		if (control_wait(me, WAIT_ADDRESS, call->a[0], deadline) == WAIT_TIMED_OUT)
			return -E_TIMED_OUT;
	}
	*word = (uint32_t)grind.thread->lwp | (*word & ~PI_OWNER & ~PI_WAITERS);
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (is_at_futex(control.blocked[i], call->a[0]))
			*word |= PI_WAITERS;
	return 0;
}

static long futex_unlock_pi(const struct call *call)
{
	*(uint32_t *)call->a[0] = 0;
	control_wake_some(call->a[0], 1);
	return 0;
}

/* ---- robust mutexes ---- */

#define OWNER_DIED 0x40000000u
#define ROBUST_MOST 1024u

/* As the kernel knows them: a ring of entries, and how far from each its word lies. */
struct robust_list {
	Addr next, offset, pending;
};

static void leave_locked(Addr entry, UWord offset, const struct thread *thread)
{
	uint32_t *word = (uint32_t *)(entry + offset);

	if (!VG_(am_is_valid_for_client)((Addr)word, sizeof *word, VKI_PROT_READ | VKI_PROT_WRITE) ||
	    (*word & PI_OWNER) != (uint32_t)thread->lwp)
		return;
	*word = (*word & PI_WAITERS) | OWNER_DIED;
	control_wake_some((Addr)word, 1);
	if (children_made)
		raw_call(__NR_futex, (long)word, FUTEX_WAKE, 1, 0, 0, 0);
}

/* What the kernel does when the thread is gone, before anybody asks who can go on. The lowest bit of an entry tells
 * that it inherits priorities. */
void futex_owner_ends(const struct thread *thread)
{
	const struct robust_list *list = (const struct robust_list *)thread->robust;

	if (!list || !VG_(am_is_valid_for_client)((Addr)list, sizeof *list, VKI_PROT_READ))
		return;
	Addr entry = list->next & ~(Addr)1, pending = list->pending & ~(Addr)1;

	for (uint32_t i = 0; i < ROBUST_MOST && entry != (Addr)list; i++) {
		if (!VG_(am_is_valid_for_client)(entry, sizeof entry, VKI_PROT_READ))
			return;
		Addr next = *(const Addr *)entry & ~(Addr)1;

		if (entry != pending)
			leave_locked(entry, list->offset, thread);
		entry = next;
	}
	if (pending)
		leave_locked(pending, list->offset, thread);
}

static bool futex_pi_call(const struct call *call)
{
	const struct vki_timespec *time = (const struct vki_timespec *)call->a[3];

	switch (call->a[1] & FUTEX_COMMAND) {
	case FUTEX_LOCK_PI:
		answer(call, futex_lock_pi(call, true, time ? deadline_at(0, time) : NEVER));
		return true;
	case FUTEX_LOCK_PI2:
		answer(call, futex_lock_pi(call, true, time ? deadline_at(1, time) : NEVER));
		return true;
	case FUTEX_TRYLOCK_PI:
		answer(call, futex_lock_pi(call, false, NEVER));
		return true;
	case FUTEX_UNLOCK_PI:
		answer(call, futex_unlock_pi(call));
		return true;
	default:
		control_uncontrolled("futex operations other than wait, wake, requeue and locks");
		return false;
	}
}

bool futex_call(const struct call *call)
{
	const UWord *a = call->a;
	long result;

	switch (a[1] & FUTEX_COMMAND) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		result = futex_wait(call, (a[1] & FUTEX_COMMAND) == FUTEX_WAIT_BITSET);
		if (result == -VKI_EINTR && !a[3])
			signals_restart(call);
		else
			answer(call, result);
		return true;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		result = control_wake_some(a[0], (uint32_t)a[2]);
		/* In other processes they wait in the kernel. */
		if (children_made && !(a[1] & FUTEX_PRIVATE) && result < (int)a[2])
			result += raw_call(__NR_futex, (long)a[0], (long)a[1], (int)a[2] - result, 0, 0,
					   (long)a[5]);
		answer(call, result);
		return true;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		if ((a[1] & FUTEX_COMMAND) == FUTEX_CMP_REQUEUE && *(uint32_t *)a[0] != (uint32_t)a[5]) {
			answer(call, -VKI_EAGAIN);
			return true;
		}
		uint32_t woken = control_wake_some(a[0], (uint32_t)a[2]);

		answer(call, woken + requeue(a[0], a[4], (uint32_t)a[3]));
		return true;
	default:
		return futex_pi_call(call);
	}
}

bool futex_waits(const struct call *call)
{
	UWord command = call->a[1] & FUTEX_COMMAND;

	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}
