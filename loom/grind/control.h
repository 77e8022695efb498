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
#define WAIT_HELD 101u  /* for the sake of a claim (loom/runtime/control/intervene.h) */
#define LOCKS_KNOWN 16u
#define POINT_SYNC 0
#define ACCESS_READ 1
#define ACCESS_WRITE 2

/* A thread as control sees it. */
struct agent {
	uint32_t go; /* futex: changes when it may be its turn */
	uint32_t state;
	struct thread *thread;
	uint32_t number; /* run-wide */
	/* The point at which it stands. */
	uint32_t site, access;
	Addr address;
	SizeT size;
	uint64_t passed; /* points */
	bool repeated, dull, yields;
	bool let_go, held_softly; /* for intervene.c */
	bool takes_signals;       /* in sigwait */
	/* What it waits for. */
	uint32_t wait, result;
	Addr object; /* the futex, or what else it sleeps on */
	uint64_t deadline, eager;
	struct vki_pollfd *polled;
	uint32_t npolled;
	/* For policies. */
	uint64_t priority, left;
	/* Spinning. */
	uint32_t streak, demotions;
	uint32_t patience; /* spent without a point */
	bool wrote, demoted;
	uint64_t demoted_until;
	uint32_t clock_reads;
	/* Locks that it holds, in the order in which it took them; of more than so many the first. */
	struct {
		uint64_t object;
		uint32_t site;
	} locks[LOCKS_KNOWN];
	uint32_t nlocks;
	struct {
		uint32_t site;
		Addr address;
	} known[64];
};

struct control {
	struct area_control options;
	struct area_schedule *schedule;
	bool intervenes;       /* a claim is forced or forbidden */
	uint32_t pinned;       /* locks inside of which nobody may be held */
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
	uint32_t *notes; /* by site: how often it was visited, and whether it is always a point */
};
extern struct control control;

void control_start(void);
void control_engage(void);
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
enum wait_result control_wait(struct agent *me, uint32_t kind, Addr object, uint64_t deadline);
/* Lets up to `most` of those go on that wait at the futex; how many. */
uint32_t control_wake_some(Addr object, uint32_t most);
/* Lets all go on that wait for this. */
void control_wake(uint32_t kind, Addr object);
bool is_at_futex(const struct agent *agent, Addr object); /* it waits there */
void control_interrupt(struct thread *thread);            /* a signal comes for it */
void control_unblock(struct agent *agent, enum wait_result result);
void control_expire(struct agent *agent);
uint64_t control_below(uint64_t n);
static inline uint64_t control_random(void)
{
	return grind_random();
}

/* ---- turns.c ---- */
void turns_start(void);
void turns_open(const struct agent *next);
void turns_close(const struct agent *me, uint32_t end);
void turns_wake(const struct agent *chosen);
struct agent *plan_next(struct agent *me, struct agent *last, uint32_t end);
struct agent *plan_wake(Addr object);

/* ---- policies.c ---- */
void policy_start(void);
void policy_new(struct agent *agent);
struct agent *policy_next(struct agent *me);
void policy_passed(struct agent *me);
void policy_demoted(struct agent *me);
void policy_weigh(struct agent *me);
uint64_t policy_eager(const struct agent *agent);

/* ---- points.c: which accesses are points ---- */
bool points_always(uint32_t site); /* it is in the run's set */
uint32_t points_visit(uint32_t site);

/* ---- the engine of loom/runtime/control/intervene.h, compiled for this tool ---- */
#define HIDDEN
#define INLINE static inline
#define WORD_SITE_MASK (AREA_PLACES - 1)
static inline void *runtime_map_far(SizeT size)
{
	return VG_(calloc)("grind.claim", 1, size);
}
static inline uint64_t units_site_id(uint32_t site)
{
	return site_id(site);
}
static inline uint64_t agent_order(const struct agent *agent)
{
	return *agent->thread->order;
}
void intervene_prepare(void);
void intervene_start(void);
bool intervene_wants(uint32_t site);
bool intervene_covers(const struct thread *self, uint64_t address, size_t size);
void intervene_arrives(struct agent *me);
void intervene(struct agent *me);
bool intervene_lets_go(void);
void intervene_ended(struct agent *me);

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

/* ---- inputs.c ---- */
bool inputs_poll(bool wait); /* wakes those whose input is there; waits for it in reality */

/* ---- lock.c ---- */
void lock_start(void);
void lock_set_token(void);
void lock_fork_child(ThreadId tid);

#endif
