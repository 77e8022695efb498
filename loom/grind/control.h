/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Controlled runs: one thread has the turn. At every point (an access that others
 * may care about, a synchronisation call) the plan or the policy decides who goes
 * on. Nothing here may depend on real time, process numbers or what lies where, or
 * the same seed would not give the same turns. */
#ifndef GRIND_CONTROL_H
#define GRIND_CONTROL_H

#include "loom/grind/tool.h"

enum agent_state { AGENT_NONE, AGENT_READY, AGENT_BLOCKED, AGENT_ENDED };
enum wait_result { WAIT_WOKEN, WAIT_TIMED_OUT, WAIT_INTERRUPTED };

#define NEVER UINT64_MAX
#define WAIT_SLEEP 100u /* beside enum area_wait_kind: ends by itself */
#define POINT_SYNC 0
#define POINT_READ 1
#define POINT_WRITE 2

/* A thread as control sees it. */
struct agent {
	uint32_t go; /* futex: changes when it may be its turn */
	uint32_t state;
	struct thread *thread;
	/* The point at which it stands. */
	uint32_t site, access;
	Addr address;
	SizeT size;
	uint64_t passed; /* points */
	bool repeated, dull, yields;
	/* What it waits for. */
	uint32_t wait, result;
	Addr object;    /* the futex, or what else it sleeps on */
	Addr called;    /* the object of the synchronisation call that it is in */
	uint32_t calls; /* enum area_wait_kind of that call */
	Addr second;    /* the mutex of a wait for a condition */
	uint64_t deadline, eager;
	struct vki_pollfd *polled;
	uint32_t npolled;
	/* For policies. */
	uint64_t priority, left;
	/* Spinning. */
	uint32_t streak, demotions;
	bool wrote, demoted;
	uint64_t demoted_until;
	uint32_t clock_reads;
	struct {
		uint32_t site;
		Addr address;
	} known[64];
};

struct control {
	struct area_control options;
	struct agent *current; /* has the turn */
	int leaving;           /* kernel's number of a thread that is ending */
	bool over;             /* the process ends: nobody takes control any more */
	struct agent **ready, **blocked, **candidates;
	uint32_t nready, nblocked, ntimed, ninputs, ndemoted, nagents, room;
	bool review;
	uint64_t now; /* virtual time in ns since the start */
	uint64_t contested, still;
	struct area_turn *turn;
	bool planned;
	uint32_t cursor, wakes;
	uint64_t budget;
	/* policies */
	uint32_t nchanges, next_change;
	uint64_t lowest, interesting, passing;
	uint32_t phase;
	struct agent *chosen;
	uint32_t *visits; /* by site */
};
extern struct control control;

void control_start(void);
void control_created(struct thread *thread);
void control_begin(struct thread *thread);
void control_ended(struct thread *thread);
void control_fork_child(void);
void control_over(void); /* the process ends: everybody may run */

/* A point before an access; returns when the running thread may do it. */
void control_access(Addr address, SizeT size, uint32_t site, bool write);
void control_wrote(void); /* the second half of an atomic update */
void control_call(uint32_t site, Addr object);
void control_yield(void);
void control_finish(uint32_t end) __attribute__((noreturn));
void control_uncontrolled(const char *what);

/* The running thread waits. */
enum wait_result control_wait(uint32_t kind, Addr object, uint64_t deadline);
/* Lets up to `most` of those go on that wait there; how many. */
uint32_t control_wake(uint32_t kind, Addr object, uint32_t most);
void control_unblock(struct agent *agent, enum wait_result result);
void control_expire(struct agent *agent);
uint64_t control_below(uint64_t n);

/* ---- turns.c ---- */
void turns_start(void);
void turns_open(const struct agent *next);
void turns_close(const struct agent *me, uint32_t end);
void turns_wake(const struct agent *chosen);
struct agent *plan_next(struct agent *me, struct agent *last, uint32_t end);
struct agent *plan_wake(uint32_t kind, Addr object);

/* ---- policies.c ---- */
void policy_start(void);
void policy_new(struct agent *agent);
struct agent *policy_next(struct agent *me);
void policy_passed(struct agent *me);
void policy_demoted(struct agent *me);
void policy_weigh(struct agent *me, bool private);
uint64_t policy_eager(const struct agent *agent);

/* ---- objects.c ---- */
struct object {
	Addr address;
	struct object *next;
	uint32_t number;
	uint32_t holder, holder_site; /* holder AREA_THREAD_GONE = nobody */
	uint32_t missed_thread, missed_site;
	bool missed;
};
struct object *object_at(Addr address);
void control_stuck(void) __attribute__((noreturn));

/* ---- calls.c ---- */
bool inputs_poll(bool wait); /* wakes those whose input is there; waits for it in reality */

/* ---- lock.c ---- */
void lock_start(void);
void lock_set_token(void);
void lock_fork_child(ThreadId tid);

#endif
