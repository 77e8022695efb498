/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System calls of the program. In a controlled run no call waits in reality: a
 * thread that would wait for a futex, for time or for input is left out until
 * what it waits for is there; clocks show virtual time, and random numbers come
 * from the seed. All others go to the kernel while the thread keeps its turn. */
#include "loom/grind/define.h"
#include "loom/grind/shadow.h"
#include "loom/grind/system_calls.h"

#define CLONE_CLEAR_TID 0x200000

Addr calls_child_clear_tid;
bool calls_made;

static struct call call_at_hand; /* of the running thread, or of one that waits in the kernel */

UWord guest_word(ThreadId tid, PtrdiffT offset)
{
	UWord value;

	VG_(get_shadow_regs_area)(tid, (UChar *)&value, 0, offset, sizeof value);
	return value;
}

void set_guest_word(ThreadId tid, PtrdiffT offset, UWord value)
{
	VG_(set_shadow_regs_area)(tid, 0, offset, sizeof value, (const UChar *)&value);
}

static const PtrdiffT argument_at[6] = { REGISTER(RDI), REGISTER(RSI), REGISTER(RDX),
					 REGISTER(R10), REGISTER(R8),  REGISTER(R9) };

void answer(const struct call *call, long result)
{
	set_guest_word(call->tid, REGISTER(RAX), (UWord)result);
}

/* ---- random numbers ---- */

static void fill_random(Addr place, SizeT size)
{
	for (SizeT i = 0; i < size; i++)
		((uint8_t *)place)[i] = (uint8_t)(grind_random() >> 56);
}

void __real_vgPlain_client_syscall(ThreadId tid, UInt trc);
void VG_(poll_signals)(ThreadId tid);

/* A call with one of its arguments changed, which the program does not see. */
void call_with(const struct call *call, UInt trc, int argument, UWord value)
{
	set_guest_word(call->tid, REGISTER(RAX), (UWord)call->number);
	set_guest_word(call->tid, argument_at[argument], value);
	__real_vgPlain_client_syscall(call->tid, trc);
	set_guest_word(call->tid, argument_at[argument], call->a[argument]);
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

/* In a process with one thread: its wait for a futex ends by time or never, and time is virtual. */
static bool waits_for_time(const struct call *call)
{
	switch (call->number) {
	case __NR_futex:
		return futex_waits(call);
	case __NR_poll:
		return (int)call->a[2] > 0;
	case __NR_ppoll:
		return call->a[2] != 0;
	case __NR_select:
	case __NR_pselect6:
		return call->a[4] != 0;
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
		return (int)call->a[3] > 0;
	default:
		return false;
	}
}

/* The core refuses whoever makes the hard limit of open files smaller, as servers do, because it needs some itself.
 * Here the program gets its limit, and the core keeps its own. True when the call is done. */
static bool limit_files(const struct call *call)
{
	bool by_process = call->number == __NR_prlimit64;
	int pid = by_process ? (int)call->a[0] : 0;
	const struct vki_rlimit *wanted = (const struct vki_rlimit *)call->a[by_process ? 2 : 1];
	struct vki_rlimit *before = by_process ? (struct vki_rlimit *)call->a[3] : NULL;

	if ((call->number != __NR_setrlimit && !by_process) || (pid && pid != VG_(getpid)()) ||
	    call->a[by_process] != VKI_RLIMIT_NOFILE || !wanted ||
	    !VG_(am_is_valid_for_client)((Addr)wanted, sizeof *wanted, VKI_PROT_READ) ||
	    wanted->rlim_cur > wanted->rlim_max || wanted->rlim_max > (UWord)VG_(fd_hard_limit) ||
	    (before && !VG_(am_is_valid_for_client)((Addr)before, sizeof *before, VKI_PROT_WRITE)))
		return false;
	if (before)
		*before = (struct vki_rlimit){ (UWord)VG_(fd_soft_limit), (UWord)VG_(fd_hard_limit) };
	VG_(fd_soft_limit) = (Int)wanted->rlim_cur;
	answer(call, 0);
	return true;
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
	if (timer_call(call, trc))
		return true;
	if (waits_for_time(call))
		control_engage();
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
	case __NR_waitid:
		before_child_wait(call);
		return false;
	default:
		if (poll_call(call, trc) || signal_call(call, trc) || file_call(call, trc))
			return true;
		before_descriptor(call);
		return false;
	}
}

static bool exiting; /* the program has asked for its end, with: */
static long exit_status;

void __wrap_vgPlain_client_syscall(ThreadId tid, UInt trc);
void __wrap_vgPlain_client_syscall(ThreadId tid, UInt trc)
{
	struct call call = { .tid = tid, .number = (long)guest_word(tid, REGISTER(RAX)) };

	for (int i = 0; i < 6; i++)
		call.a[i] = guest_word(tid, argument_at[i]);
	call_at_hand = call;
	note_clear_tid(&call);
	if (call.number == __NR_exit_group) {
		exiting = true;
		exit_status = call.a[0];
		control_ends();
		control_over();
	}
	if (call.number == __NR_set_tid_address)
		grind.thread->clear_tid = call.a[0];
	if (call.number == __NR_rt_sigaction && (call.a[0] == VKI_SIGSEGV || call.a[0] == VKI_SIGBUS) &&
	    call.a[1])
		server_note_faults();
	if (call.number == __NR_set_robust_list)
		grind.thread->robust = call.a[0];
	if (suppress_system_call(tid, call.number)) {
		answer(&call, 0);
		return;
	}
	if (limit_files(&call))
		return;
	bool steered = grind.observed && control.options.policy != POLICY_FREE;

	if (steered && steered_call(&call, trc)) {
		if (grind.controlled)
			VG_(poll_signals)(tid);
		return;
	}
	/* The program has ended while this thread waited for its turn: it must not begin a call that nobody ends. */
	if (steered && VG_(is_exiting)(tid) && call.number != __NR_exit && call.number != __NR_exit_group) {
		answer(&call, -VKI_EINTR);
		return;
	}
	__real_vgPlain_client_syscall(tid, trc);
	if (!calls_made)
		records_know_few();
	calls_made = true;
	suppress_system_call_done(tid);
	if (steered) {
		note_descriptors(&call);
		signals_sent(&call);
	}
}

/* The core asks gdb before it delivers a signal, so its number is known when it turns out to be fatal: in generated code
 * the program counter may lag behind, and tells neither a division nor a mapping without a file behind it. */
static int signal_at_hand;
Bool __real_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid);
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid);
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid)
{
	signal_at_hand = info->si_signo;
	return __real_vgPlain_gdbserver_report_signal(info, tid);
}

/* The process ends here and now, whoever waits for the big lock. */
static void end_by(int signal)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action = { 0 };
	uint64_t all = ~0ull;

	raw_call(__NR_rt_sigaction, signal, (long)&action, 0, 8, 0, 0);
	raw_call(__NR_rt_sigprocmask, VKI_SIG_UNBLOCK, (long)&all, 0, 8, 0, 0);
	raw_call(__NR_tgkill, VG_(getpid)(), VG_(gettid)(), signal, 0, 0, 0);
}

#define FATAL_SIGNAL 3 /* VgSrc_FatalSig */
/* A signal ends the program: the others must be able to go. */
void __real_vgPlain_nuke_all_threads_except(ThreadId me, UInt why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, UInt why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, UInt why)
{
	/* A thread that was held goes on for a moment when the program has ended. Were it to wait for the others to be
	 * gone, as whoever ends the program does, each would wait for the other. */
	if (why == FATAL_SIGNAL && exiting && VG_(is_exiting)(me))
		raw_call(__NR_exit_group, exit_status, 0, 0, 0, 0, 0);
	if (why == FATAL_SIGNAL) {
		define_fatal(me);
		if (grind.controlled && VG_(in_generated_code))
			end_by(signal_at_hand);
	}
	control_over();
	__real_vgPlain_nuke_all_threads_except(me, why);
}

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
		shadow_by_call(address, size, false, site_of_call(SITE_READ, NULL));
}

static void kernel_wrote(CorePart part, ThreadId tid, Addr address, SizeT size)
{
	if (part == Vg_CoreSysCall && is_of_program(tid) && size)
		shadow_by_call(address, size, true, site_of_call(SITE_WRITE, NULL));
	if (define.on && part == Vg_CoreSysCall && size)
		define_by_kernel(address, size);
}

static void mapped(Addr address, SizeT size, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r, (void)w, (void)x, (void)handle;
	grind.has_far_memory |= (address + size) >> NEAR_BITS != 0;
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
