/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System calls of the program. In a controlled run no call waits in reality: a
 * thread that would wait for a futex, for time or for input is left out until
 * what it waits for is there; clocks show virtual time, and random numbers come
 * from the seed. All others go to the kernel while the thread keeps its turn. */
#include "loom/grind/control.h"

#define SECOND 1000000000ull
#define REALTIME_START (1767225600ull * SECOND) /* 1 January 2026 */
#define MONOTONIC_START (1000ull * SECOND)
#define CLOCK_READ_NS 1000u
#define CLOCK_PATIENCE 100u /* readings in a row: then the thread waits for the clock */

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_COMMAND 127
#define FUTEX_REALTIME 256
#define E_TIMED_OUT 110
#define POLL_OUT 4
#define CLONE_THREAD 0x10000
#define CLONE_CLEAR_TID 0x200000

Addr calls_child_clear_tid;

struct call {
	ThreadId tid;
	long number;
	UWord a[6];
};

static struct call call_at_hand; /* of the running thread, or of one that waits in the kernel */

static UWord guest_word(ThreadId tid, PtrdiffT offset)
{
	UWord value;

	VG_(get_shadow_regs_area)(tid, (UChar *)&value, 0, offset, sizeof value);
	return value;
}

static void set_guest_word(ThreadId tid, PtrdiffT offset, UWord value)
{
	VG_(set_shadow_regs_area)(tid, 0, offset, sizeof value, (const UChar *)&value);
}

#define REGISTER(name) offsetof(VexGuestAMD64State, guest_##name)
static const PtrdiffT argument_at[6] = { REGISTER(RDI), REGISTER(RSI), REGISTER(RDX),
					 REGISTER(R10), REGISTER(R8),  REGISTER(R9) };

static void answer(const struct call *call, long result)
{
	set_guest_word(call->tid, REGISTER(RAX), (UWord)result);
}

/* ---- time ---- */

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
	if (me->clock_reads <= CLOCK_PATIENCE) {
		control.now += CLOCK_READ_NS;
		return control.now;
	}
	control.now += 1000000u;
	control_call(site_of_call(SITE_SYNC, "clock_gettime"), 0);
	return control.now;
}

static bool is_time(const struct vki_timespec *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < (long)SECOND;
}

static uint64_t nanoseconds(const struct vki_timespec *time)
{
	uint64_t seconds = (uint64_t)time->tv_sec;

	return seconds > NEVER / SECOND / 4 ? NEVER / 2 : seconds * SECOND + (uint64_t)time->tv_nsec;
}

static uint64_t deadline_at(UWord clock, const struct vki_timespec *when)
{
	uint64_t at = nanoseconds(when), start = clock_start(clock);

	return at > start ? at - start : 0;
}

static uint64_t deadline_in(uint64_t length)
{
	return length > NEVER / 2 ? NEVER - 1 : control.now + length;
}

static void write_time(Addr place, uint64_t at, uint64_t fraction)
{
	uint64_t *words = (uint64_t *)place;

	words[0] = at / SECOND;
	words[1] = at % SECOND / fraction;
}

/* Sleeps in virtual time. */
static void sleep_until(const struct call *call, const char *name, uint64_t deadline)
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
	me->calls = WAIT_NOTHING;
	if (deadline <= control.now)
		control_call(me->site, 0);
	else
		control_wait(WAIT_SLEEP, 0, deadline);
	answer(call, 0);
}

static bool time_call(const struct call *call)
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
		sleep_until(call, "nanosleep", deadline_in(nanoseconds((struct vki_timespec *)a[0])));
		return true;
	case __NR_clock_nanosleep:
		if (!is_time((struct vki_timespec *)a[2]))
			return false;
		sleep_until(call, "nanosleep",
			    a[1] & 1 ? deadline_at(a[0], (struct vki_timespec *)a[2])
				     : deadline_in(nanoseconds((struct vki_timespec *)a[2])));
		return true;
	default:
		return false;
	}
}

/* ---- futexes ---- */

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
	if (me->calls == WAIT_NOTHING)
		me->site = site_of_call(SITE_SYNC, "futex");
	if (deadline <= control.now)
		return -E_TIMED_OUT;
	switch (control_wait(me->calls ? me->calls : (uint32_t)WAIT_ADDRESS, a[0], deadline)) {
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
		if (control.blocked[i]->wait != WAIT_INPUT && control.blocked[i]->object == from) {
			control.blocked[i]->object = to;
			n++;
		}
	return n;
}

static bool futex_call(const struct call *call)
{
	const UWord *a = call->a;

	switch (a[1] & FUTEX_COMMAND) {
	case FUTEX_WAIT:
		answer(call, futex_wait(call, false));
		return true;
	case FUTEX_WAIT_BITSET:
		answer(call, futex_wait(call, true));
		return true;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		answer(call, control_wake(WAIT_ADDRESS, a[0], (uint32_t)a[2]));
		return true;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		if ((a[1] & FUTEX_COMMAND) == FUTEX_CMP_REQUEUE && *(uint32_t *)a[0] != (uint32_t)a[5]) {
			answer(call, -VKI_EAGAIN);
			return true;
		}
		uint32_t woken = control_wake(WAIT_ADDRESS, a[0], (uint32_t)a[2]);

		answer(call, woken + requeue(a[0], a[4], (uint32_t)a[3]));
		return true;
	default:
		control_uncontrolled("futex operations other than wait, wake and requeue");
		return false;
	}
}

/* ---- random numbers ---- */

static void fill_random(Addr place, SizeT size)
{
	for (SizeT i = 0; i < size; i++)
		((uint8_t *)place)[i] = (uint8_t)(grind_random() >> 56);
}

/* ---- input ---- */

static bool is_there(struct vki_pollfd *polled, uint32_t n, long milliseconds)
{
	return raw_call(__NR_poll, (long)polled, n, milliseconds, 0, 0, 0) != 0;
}

bool inputs_poll(bool wait)
{
	struct vki_pollfd all[64];
	uint32_t n = 0;
	bool any = false;

	for (uint32_t i = 0; i < control.nblocked; i++)
		for (uint32_t k = 0;
		     control.blocked[i]->wait == WAIT_INPUT && k < control.blocked[i]->npolled; k++)
			if (n < 64)
				all[n++] = control.blocked[i]->polled[k];
	if (wait && n) {
		uint64_t first = NEVER;

		for (uint32_t i = 0; i < control.nblocked; i++)
			first = control.blocked[i]->deadline < first ? control.blocked[i]->deadline : first;
		control_uncontrolled("input from outside");
		if (!is_there(all, n, first == NEVER ? -1 : (long)((first - control.now) / 1000000u + 1)))
			return false;
	}
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];

		if (agent->wait == WAIT_INPUT && is_there(agent->polled, agent->npolled, 0)) {
			control_unblock(agent, WAIT_WOKEN);
			any = true;
		} else {
			i++;
		}
	}
	return any;
}

/* Until one of these is ready; true when it is. */
static bool await_input(const char *name, struct vki_pollfd *polled, uint32_t n, uint64_t deadline)
{
	struct agent *me = grind.thread->agent;

	control_call(site_of_call(SITE_SYNC, name), 0);
	if (is_there(polled, n, 0))
		return true;
	if (deadline <= control.now)
		return false;
	me->polled = polled;
	me->npolled = n;
	me->calls = WAIT_NOTHING;
	bool there = control_wait(WAIT_INPUT, 0, deadline) == WAIT_WOKEN;

	me->polled = NULL;
	return there;
}

static bool waits_for_descriptor(long number, const char **name, short *events)
{
	static const struct {
		long number;
		const char *name;
		short events;
	} calls[] = {
		{ __NR_read, "read", VKI_POLLIN },     { __NR_readv, "readv", VKI_POLLIN },
		{ __NR_recvfrom, "recv", VKI_POLLIN }, { __NR_recvmsg, "recvmsg", VKI_POLLIN },
		{ __NR_accept, "accept", VKI_POLLIN }, { __NR_accept4, "accept", VKI_POLLIN },
		{ __NR_write, "write", POLL_OUT },     { __NR_writev, "writev", POLL_OUT },
		{ __NR_sendto, "send", POLL_OUT },     { __NR_sendmsg, "sendmsg", POLL_OUT },
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i].number == number) {
			*name = calls[i].name;
			*events = calls[i].events;
			return true;
		}
	return false;
}

#define O_NONBLOCK 2048

void __real_vgPlain_client_syscall(ThreadId tid, UInt trc);

/* A call with one of its arguments changed, which the program does not see. */
static void call_with(const struct call *call, UInt trc, int argument, UWord value)
{
	set_guest_word(call->tid, argument_at[argument], value);
	__real_vgPlain_client_syscall(call->tid, trc);
	set_guest_word(call->tid, argument_at[argument], call->a[argument]);
}

/* The time-out of poll and its kin has passed when nothing is there: then they only look. */
static bool poll_call(const struct call *call, UInt trc)
{
	const UWord *a = call->a;
	struct vki_pollfd own = { .events = VKI_POLLIN };
	struct vki_pollfd *polled = (struct vki_pollfd *)a[0];
	uint32_t n = (uint32_t)a[1];
	int argument = 2;

	if (call->number == __NR_epoll_wait || call->number == __NR_epoll_pwait) {
		own.fd = (int)a[0];
		polled = &own;
		n = 1;
		argument = 3;
	} else if (call->number != __NR_poll) {
		return false;
	}
	if ((int)a[argument] == 0)
		return false;
	uint64_t deadline = (int)a[argument] < 0 ? NEVER : deadline_in((uint64_t)(int)a[argument] * 1000000u);

	if (await_input("poll", polled, n, deadline))
		return false;
	call_with(call, trc, argument, 0);
	return true;
}

static void before_descriptor(const struct call *call)
{
	const char *name;
	short events;

	if (!waits_for_descriptor(call->number, &name, &events))
		return;
	struct vki_pollfd polled = { .fd = (int)call->a[0], .events = events };
	long flags = raw_call(__NR_fcntl, polled.fd, VKI_F_GETFL, 0, 0, 0, 0);

	if (flags < 0 || flags & O_NONBLOCK)
		control_call(site_of_call(SITE_SYNC, name), 0);
	else
		await_input(name, &polled, 1, NEVER);
}

/* ---- threads and ends ---- */

static void note_clear_tid(const struct call *call)
{
	if (call->number == __NR_clone && call->a[0] & CLONE_THREAD && call->a[0] & CLONE_CLEAR_TID)
		calls_child_clear_tid = call->a[3];
	/* struct clone_args: flags, pidfd, child_tid, … */
	if (call->number == __NR_clone3 && call->a[0]) {
		const uint64_t *args = (const uint64_t *)call->a[0];

		calls_child_clear_tid = args[0] & CLONE_CLEAR_TID ? args[2] : 0;
	}
}

/* True when the call is done. */
static bool steered_call(const struct call *call, UInt trc)
{
	if (time_call(call))
		return true;
	if (call->number == __NR_getrandom) {
		fill_random(call->a[0], call->a[1]);
		answer(call, (long)call->a[1]);
		return true;
	}
	if (!grind.controlled || !grind.thread->agent)
		return false;
	switch (call->number) {
	case __NR_futex:
		return futex_call(call);
	case __NR_sched_yield:
		control_yield();
		answer(call, 0);
		return true;
	case __NR_wait4:
		control_call(site_of_call(SITE_SYNC, "wait"), 0);
		return false;
	default:
		if (poll_call(call, trc))
			return true;
		before_descriptor(call);
		return false;
	}
}

void __wrap_vgPlain_client_syscall(ThreadId tid, UInt trc);
void __wrap_vgPlain_client_syscall(ThreadId tid, UInt trc)
{
	struct call call = { .tid = tid, .number = (long)guest_word(tid, REGISTER(RAX)) };

	for (int i = 0; i < 6; i++)
		call.a[i] = guest_word(tid, argument_at[i]);
	call_at_hand = call;
	note_clear_tid(&call);
	if (call.number == __NR_exit_group)
		control_over();
	if (grind.observed && control.options.policy != POLICY_FREE && steered_call(&call, trc))
		return;
	__real_vgPlain_client_syscall(tid, trc);
}

/* A signal ends the program: the others must be able to go. */
void __real_vgPlain_nuke_all_threads_except(ThreadId me, UInt why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, UInt why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, UInt why)
{
	control_over();
	__real_vgPlain_nuke_all_threads_except(me, why);
}

void VG_(poll_signals)(ThreadId tid);

void grind_abort(const char *message)
{
	VG_(write)(2, message, (Int)VG_(strlen)(message));
	VG_(write)(2, "\n", 1);
	raw_call(__NR_tgkill, VG_(getpid)(), VG_(gettid)(), VKI_SIGABRT, 0, 0, 0);
	VG_(poll_signals)(grind.thread->tid);
}

/* ---- what the kernel reads and writes for the program ---- */

/* Input and output is the program's; what libc asks for to make threads wait is not. */
static bool is_of_program(ThreadId tid)
{
	if (!grind.observed || !grind.call || !call_at_hand.tid || call_at_hand.tid != tid)
		return false;
	switch (call_at_hand.number) {
	case __NR_futex:
	case __NR_clone:
	case __NR_clone3:
	case __NR_exit:
	case __NR_rt_sigprocmask:
	case __NR_rt_sigaction:
	case __NR_set_robust_list:
	case __NR_execve:
		return false;
	default:
		return true;
	}
}

static void kernel_reads(CorePart part, ThreadId tid, const HChar *what, Addr address, SizeT size)
{
	(void)what;
	if (part == Vg_CoreSysCall && is_of_program(tid) && size)
		shadow_by_call(address, size, false);
}

static void kernel_wrote(CorePart part, ThreadId tid, Addr address, SizeT size)
{
	if (part == Vg_CoreSysCall && is_of_program(tid) && size)
		shadow_by_call(address, size, true);
}

static void mapped(Addr address, SizeT size, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r, (void)w, (void)x, (void)handle;
	if (grind.observed && grind.thread)
		shadow_forget(address, size);
}

static void unmapped(Addr address, SizeT size)
{
	if (grind.observed && grind.thread)
		shadow_forget(address, size);
}

void calls_start(void)
{
	VG_(track_pre_mem_read)(kernel_reads);
	VG_(track_post_mem_write)(kernel_wrote);
	VG_(track_new_mem_mmap)(mapped);
	VG_(track_die_mem_munmap)(unmapped);
}
