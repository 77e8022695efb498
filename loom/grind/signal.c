/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals of a controlled program. A thread takes its signals from the kernel when its turn comes (the core's
 * poll_signals), so one that waits is woken for them; one to the whole process is given to a thread that lets it in. */
#include "loom/grind/system_calls.h"

SysRes VG_(do_sys_sigprocmask)(ThreadId tid, Int how, vki_sigset_t *set, vki_sigset_t *old);
SysRes VG_(do_sys_sigaction)(Int number, const vki_sigaction_toK_t *fresh, vki_sigaction_fromK_t *old);

#define SIGNALS 64
#define SYSCALL_LENGTH 2 /* bytes of the instruction */

static const struct vki_timespec at_once;
bool signals_from_outside;

static uint64_t bit_of(int number)
{
	return 1ull << (number - 1);
}

static vki_sigaction_fromK_t action_of(int number)
{
	vki_sigaction_fromK_t action = { 0 };

	VG_(do_sys_sigaction)(number, NULL, &action);
	return action;
}

/* Does it come to anybody who does not wait for it? */
static bool is_heard(int number)
{
	const UWord handler = (UWord)action_of(number).ksa_handler;
	bool silent = number == VKI_SIGCHLD || number == VKI_SIGCONT || number == VKI_SIGURG ||
		      number == VKI_SIGWINCH;

	return handler > 1 || (handler == 0 && !silent);
}

static uint64_t blocked_by(const struct thread *thread)
{
	vki_sigset_t mask;

	VG_(do_sys_sigprocmask)(thread->tid, VKI_SIG_BLOCK, NULL, &mask);
	return mask.sig[0];
}

static bool lets_in(const struct thread *thread, int number)
{
	const struct agent *agent = thread->agent;

	if (!agent || agent->state == AGENT_ENDED || !thread->lwp)
		return false;
	if (agent->takes_signals && agent->awaited & bit_of(number))
		return true;
	return (agent->takes_signals & AWAITS_INSTEAD) == 0 && !(blocked_by(thread) & bit_of(number)) &&
	       is_heard(number);
}

static struct thread *thread_at(uint32_t index)
{
	return thread_numbered(grind.thread->number - grind.thread->index + index);
}

/* One whose wait is for signals looks for them itself; others leave what they wait at. */
static void wake_for(struct thread *thread, int number)
{
	struct agent *agent = thread->agent;

	agent->signals |= bit_of(number);
	if (agent->state == AGENT_BLOCKED)
		control_unblock(agent, agent->takes_signals ? WAIT_WOKEN : WAIT_INTERRUPTED);
}

/* Only the first thread may queue what looks like a signal of the kernel's or of kill: others send it plainly. */
static void queue(const struct thread *thread, vki_siginfo_t *info)
{
	long to = VG_(getpid)(), number = info->si_signo;

	if (!thread && raw_call(__NR_rt_sigqueueinfo, to, number, (long)info, 0, 0, 0) < 0)
		raw_call(__NR_kill, to, number, 0, 0, 0, 0);
	if (thread && raw_call(__NR_rt_tgsigqueueinfo, to, thread->lwp, number, (long)info, 0, 0) < 0)
		raw_call(__NR_tgkill, to, thread->lwp, number, 0, 0, 0);
}

void signals_to_thread(int lwp, vki_siginfo_t *info)
{
	struct thread *thread;

	for (uint32_t i = 0; (thread = thread_at(i)); i++)
		if (thread->lwp == lwp && !thread->ended) {
			queue(thread, info);
			if (lets_in(thread, info->si_signo))
				wake_for(thread, info->si_signo);
			return;
		}
}

/* Like the kernel: to the first thread that lets it in. */
static struct thread *taker_of(int number)
{
	struct thread *thread;

	for (uint32_t i = 0; (thread = thread_at(i)); i++)
		if (lets_in(thread, number))
			return thread;
	return NULL;
}

void signals_to_process(vki_siginfo_t *info)
{
	struct thread *thread = taker_of(info->si_signo);

	queue(thread, info);
	if (thread)
		wake_for(thread, info->si_signo);
}

static uint64_t pending_signals(void)
{
	uint64_t pending = 0;

	raw_call(__NR_rt_sigpending, (long)&pending, sizeof pending, 0, 0, 0, 0);
	return pending;
}

bool signals_arrive(void)
{
	uint64_t pending = pending_signals();
	bool any = false;

	for (int number = 1; pending && number <= SIGNALS; number++) {
		uint64_t bit = bit_of(number);
		struct thread *thread = pending & bit ? taker_of(number) : NULL;
		vki_siginfo_t info;

		if (!thread || thread == grind.thread ||
		    raw_call(__NR_rt_sigtimedwait, (long)&bit, (long)&info, (long)&at_once, sizeof bit, 0,
			     0) < 0)
			continue;
		queue(thread, &info);
		wake_for(thread, number);
		any = true;
	}
	return any;
}

/* Those that the running thread has to take before it goes on. */
static uint64_t signals_due(const struct agent *me)
{
	uint64_t pending = pending_signals(), due = pending & ~blocked_by(me->thread);

	for (int number = 1; due && number <= SIGNALS; number++)
		if (due & bit_of(number) && !is_heard(number))
			due &= ~bit_of(number);
	return due;
}

bool signals_are_due(struct agent *me)
{
	me->signals = signals_due(me);
	return me->signals;
}

/* In the middle of generated code, which it leaves for that. */
void signals_deliver(struct agent *me)
{
	if (signals_are_due(me))
		lock_leave_soon(me->thread->tid);
}

void signals_restart(const struct call *call)
{
	uint64_t due = signals_due(grind.thread->agent);
	bool restarts = true;

	for (int number = 1; due && number <= SIGNALS; number++)
		restarts &= !(due & bit_of(number)) || action_of(number).sa_flags & VKI_SA_RESTART;
	answer(call, restarts ? call->number : -VKI_EINTR);
	if (restarts)
		set_guest_word(call->tid, REGISTER(RIP),
			       guest_word(call->tid, REGISTER(RIP)) - SYSCALL_LENGTH);
}

/* After a call by which the program sends a signal: the kernel has it by now. */
void signals_sent(const struct call *call)
{
	bool to_thread = call->number == __NR_tgkill || call->number == __NR_tkill ||
			 call->number == __NR_rt_tgsigqueueinfo;
	UWord lwp = call->a[call->number != __NR_tkill];
	int number = (int)call->a[to_thread && call->number != __NR_tkill ? 2 : 1];
	struct thread *thread;

	if (!grind.controlled || number < 1 || number > SIGNALS ||
	    (long)guest_word(call->tid, REGISTER(RAX)) < 0)
		return;
	if (call->number == __NR_kill || call->number == __NR_rt_sigqueueinfo)
		signals_arrive();
	for (uint32_t i = 0; to_thread && (thread = thread_at(i)); i++)
		if (thread != grind.thread && thread->lwp == (int)lwp && lets_in(thread, number))
			wake_for(thread, number);
}

/* ---- waiting for them ---- */

static enum wait_result await_signal(const char *name, uint64_t awaited, enum awaits how, uint64_t deadline)
{
	struct agent *me = grind.thread->agent;

	me->site = site_of_call(SITE_SYNC, name);
	me->thread->calls = WAIT_NOTHING;
	me->takes_signals = how;
	me->awaited = awaited;
	enum wait_result result = control_wait(me, WAIT_ADDRESS, (Addr)me, deadline);

	me->takes_signals = 0;
	return result;
}

static void take_signal(const struct call *call, UInt trc)
{
	struct agent *me = grind.thread->agent;
	const struct vki_timespec *time = (const struct vki_timespec *)call->a[2];
	uint64_t deadline = time && is_time(time) ? deadline_in(nanoseconds(time)) : NEVER;
	uint64_t awaited = *(const uint64_t *)call->a[0];
	bool over = false;

	control_call(site_of_call(SITE_SYNC, "sigwait"), 0);
	while (!(pending_signals() & awaited)) {
		if (control.over || signals_are_due(me)) {
			answer(call, -VKI_EINTR);
			return;
		}
		if (over || deadline <= time_of(me)) {
			answer(call, -VKI_EAGAIN);
			return;
		}
		over = await_signal("sigwait", awaited, AWAITS_TOO, deadline) == WAIT_TIMED_OUT;
	}
	call_with(call, trc, 2, (UWord)&at_once);
}

static uint64_t heard_beside(uint64_t blocked)
{
	uint64_t heard = 0;

	for (int number = 1; number <= SIGNALS; number++)
		heard |= is_heard(number) ? bit_of(number) : 0;
	return heard & ~blocked;
}

/* The kernel is asked when there is one to be taken. */
static void suspend(uint64_t blocked)
{
	uint64_t heard = heard_beside(blocked);

	while (!control.over && !(pending_signals() & heard))
		await_signal("sigsuspend", heard, AWAITS_INSTEAD, NEVER);
}

void signals_let_in(struct agent *me, const uint64_t *blocked)
{
	me->takes_signals = blocked ? AWAITS_INSTEAD : AWAITS_NONE;
	me->awaited = blocked ? heard_beside(*blocked) : 0;
}

bool signals_came(const struct agent *me)
{
	return me->takes_signals && pending_signals() & me->awaited;
}

bool signal_call(const struct call *call, UInt trc)
{
	switch (call->number) {
	case __NR_rt_sigtimedwait:
		take_signal(call, trc);
		return true;
	case __NR_pause:
		suspend(blocked_by(grind.thread));
		return false;
	case __NR_rt_sigsuspend:
		suspend(*(const uint64_t *)call->a[0]);
		return false;
	default:
		return false;
	}
}
