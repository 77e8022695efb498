/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Between the files that answer system calls of a controlled program:
 * system_calls.c sees every call first and asks the others whether it is theirs. */
#ifndef GRIND_SYSTEM_CALLS_H
#define GRIND_SYSTEM_CALLS_H

#include "loom/grind/control.h"

#define E_TIMED_OUT 110
#define E_DEADLOCK 35
#define CLONE_THREAD 0x10000

struct call {
	ThreadId tid;
	long number;
	UWord a[6];
};

#define REGISTER(name) offsetof(VexGuestAMD64State, guest_##name)
#define SECOND 1000000000ull
UWord guest_word(ThreadId tid, PtrdiffT offset);
void set_guest_word(ThreadId tid, PtrdiffT offset, UWord value);
void answer(const struct call *call, long result); /* what the program gets */
/* The call goes to the kernel with one of its arguments changed, which the program does not see. */
void call_with(const struct call *call, UInt trc, int argument, UWord value);

/* ---- virtual_time.c ---- */
bool time_call(const struct call *call); /* true: it was one, and is done */
bool is_time(const struct vki_timespec *time);
uint64_t nanoseconds(const struct vki_timespec *time);
uint64_t deadline_at(UWord clock, const struct vki_timespec *when); /* in virtual time */
uint64_t deadline_in(uint64_t length);

/* ---- futexes.c ---- */
bool futex_call(const struct call *call);
bool futex_waits(const struct call *call);

/* ---- inputs.c ---- */
bool poll_call(const struct call *call, UInt trc); /* also select; true: it is done */
void before_descriptor(const struct call *call);   /* waits for what the call would wait for */
void note_descriptors(const struct call *call);    /* after a call */
void note_own(int fd, bool own);                   /* nobody else has the other end */

/* ---- file_locks.c ---- */
bool file_call(const struct call *call, UInt trc);

/* ---- signal.c ---- */
bool signal_call(const struct call *call, UInt trc);
void signals_sent(const struct call *call); /* after one that sends some */
/* For the wait to come: these are blocked and no others, NULL: those that its thread blocks. */
void signals_let_in(struct agent *me, const uint64_t *blocked);
bool signals_came(const struct agent *me); /* for that wait */
/* The call was interrupted: it begins again after the handler, or fails. */
void signals_restart(const struct call *call);

/* ---- timers.c, children.c ---- */
bool timer_call(const struct call *call, UInt trc);
void children_note(int pid);
void before_child_wait(const struct call *call);

#endif
