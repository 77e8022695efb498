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
enum access { ACCESS_READ = 1, ACCESS_WRITE };
enum awaits {
	AWAITS_NONE,
	AWAITS_TOO,
	AWAITS_INSTEAD
}; /* signals, beside those that it lets in or in their place */

#define NEVER UINT64_MAX
#define POINT_SYNC 0   /* access of a point that is none: a synchronisation call, */
#define POINT_LINGER 3 /* or a loop that may wait; the tool knows the site of every access, and has none */
#define STILL_MOST 1000000u /* points without any news: everybody spins for ever */
#define SPIN_SITES 64u
#define FEW_AGENTS 32u
#define WAIT_SLEEP 100u /* beside enum area_wait_kind: ends by itself */
#define WAIT_HELD 101u  /* for the sake of a claim (loom/runtime/control/intervene.h) */
#define LOCKS_KNOWN 16u
#define GROUPS_KNOWN 16u /* threads of further ones belong to the last */
#define PRIORITY_HIGH (1ull << 63)

/* A thread as control sees it. */
struct agent {
	uint32_t go; /* futex: changes when it may be its turn */
	uint32_t state;
	struct thread *thread;
	uint32_t number; /* run-wide */
	/* The point at which it stands. */
	uint32_t site, access;
	uint64_t address, size;
	uint64_t passed; /* points */
	bool repeated, inside, yields;
	bool let_go, held, held_softly; /* for intervene.c */
	enum awaits takes_signals;      /* in sigwait, sigsuspend: */
	uint64_t awaited;               /* these */
	uint64_t signals;               /* that were sent to it, and that it may not have taken yet */
	/* What it waits for. */
	uint32_t wait, result;
	uint64_t object; /* the futex, or what else it sleeps on */
	uint64_t deadline, eager, overdue;
	uint64_t worked; /* accesses that are counted in control.work */
	uint64_t queued;
	uint64_t time; /* it has slept until then: its clock is ahead when that is later than now */
	/* Waits that reality can end: is it over? */
	bool (*look)(struct agent *agent);
	const void *looked;
	bool foreign;
	struct vki_pollfd *polled;
	uint32_t npolled;
	/* For policies. */
	uint64_t priority, left;
	uint32_t group; /* threads made by one call */
	/* Spinning. */
	uint32_t streak, demotions;
	bool wrote, demoted;
	uint64_t demoted_until;
	uint32_t clock_reads;
	/* Locks that it holds, in the order in which it took them; of more than so many the first. */
	struct {
		uint64_t object;
		uint32_t site;
		uint64_t order;   /* of the thread when it took it */
		uint64_t signals; /* control.signals then */
	} locks[LOCKS_KNOWN];
	uint32_t nlocks;
	bool missed; /* it waits, and the last broadcast came between its taking the mutex and its wait */
	struct {     /* the last signal, while it waits at a condition variable, that woke another */
		uint32_t site, thread; /* of whoever gave it; site 0 = none */
		uint32_t taker_site, taker;
	} taken;
	uint64_t began; /* control.signals when it last began to wait there */
	struct {
		uint32_t site;
		uint64_t address;
	} known[SPIN_SITES];
};

struct control {
	struct area_control options;
	struct area_schedule *schedule;
	bool intervenes;       /* a claim is forced or forbidden */
	uint32_t pinned;       /* locks inside of which nobody may be held */
	struct agent *current; /* has the turn */
	int leaving;           /* kernel's number of a thread that is ending */
	bool over;             /* the process ends: nobody takes control any more */
	/* Sets of agents. */
	struct agent **ready, **blocked, **candidates;
	struct agent *few[4 * FEW_AGENTS];
	uint32_t nready, nblocked, ntimed, ninputs, ndemoted;
	uint32_t exiting; /* 1: one of those who are ready is about to end the program */
	bool review;
	/* Time, work, and what tells that nothing goes on. */
	uint64_t now; /* virtual time in ns since the start */
	uint64_t next_deadline, next_overdue;
	uint64_t timer_deadline; /* of the program's first timer */
	uint64_t handlers;       /* 0: the core sees to signals */
	uint64_t contested, still, still_most, waits, work, fair_at;
	uint64_t signals; /* and broadcasts to condition variables */
	uint32_t patience;
	bool looking, looks_closely; /* the second is the first as it was when the block at hand began */
	/* Turns and plan. */
	struct area_turn *turn;
	bool planned;
	uint32_t cursor, wakes;
	uint64_t budget;
	/* Policies. */
	uint32_t nchanges, next_change;
	uint64_t lowest, interesting, passing;
	uint32_t phase;
	bool by_site, by_place;
	struct {
		const void *routine;
		uint32_t site;
		uint64_t priority;
	} groups[GROUPS_KNOWN];
	uint32_t ngroups;
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
void control_ends(void);                 /* the program asks for its end */
void control_give_way(struct agent *me); /* a point at which it does nothing */
void control_finish(uint32_t end) __attribute__((noreturn));
void control_uncontrolled(const char *what);
void control_show_gdb(void);  /* the running thread stands where a debugger wants to see it */
bool control_wants_all(void); /* no access may take a short way */

void futex_owner_ends(const struct thread *thread); /* it may have robust mutexes */
/* Lets up to `most` of those go on that wait at the futex; how many. */
uint32_t control_wake_some(Addr object, uint32_t most);

/* ---- what the files of loom/runtime/control/engine.h, compiled for this tool, need ---- */
#define HIDDEN
#define HOT
#define INLINE static inline
#define WORD_SITE_MASK (AREA_PLACES - 1)
#define memcpy(to, from, size) VG_(memcpy)(to, from, size)
#define memmove(to, from, size) VG_(memmove)(to, from, size)

INLINE void *runtime_map_far(SizeT size)
{
	return grind_reserve(size);
}
INLINE void *runtime_map(uint64_t at, SizeT size)
{
	(void)at;
	return runtime_map_far(size);
}
/* A site that is told of has to be in the area. */
INLINE uint64_t units_site_id(uint32_t site)
{
	site_used(site);
	return site_id(site);
}
/* Numbers of sites depend on what was translated first. */
INLINE uint32_t site_key(uint32_t site)
{
	return (uint32_t)(site_id(site) >> 32);
}
INLINE uint64_t agent_order(const struct agent *agent)
{
	return *agent->thread->order;
}
INLINE const void *agent_routine(const struct agent *agent)
{
	(void)agent;
	return NULL; /* only the call that made it is known */
}
INLINE uint64_t time_of(const struct agent *agent)
{
	return agent->time > control.now ? agent->time : control.now;
}
INLINE uint64_t control_random(void)
{
	return grind_random();
}
INLINE uint64_t control_below(uint64_t n)
{
	return (uint64_t)((unsigned __int128)grind_random() * n >> 64);
}
/* ---- signal.c, timers.c, children.c ---- */
bool signals_arrive(void); /* those of other processes; true: somebody was woken */
bool signals_are_due(struct agent *me);
void signals_deliver(struct agent *me);
void signals_to_process(vki_siginfo_t *info);
void signals_to_thread(int lwp, vki_siginfo_t *info);
void timers_fire(void);
extern bool timers_in_vain; /* some woke nobody */
void timers_revive(void);
void timers_take_over(void);      /* the process comes under control */
extern bool signals_from_outside; /* some may come: of children, of timers in real time */
extern bool children_made;
bool children_alive(void);

INLINE void take_arrived_signals(void)
{
	if (UNLIKELY(timers_in_vain))
		timers_revive();
	if (UNLIKELY(signals_from_outside))
		signals_arrive();
}
INLINE bool has_signals(const struct agent *agent)
{
	return agent->signals != 0;
}
INLINE void deliver_signals(struct agent *me)
{
	if (UNLIKELY(me->signals))
		signals_deliver(me);
}
/* Futexes are all the same; the call that waits there tells what it is. */
INLINE bool is_at_lock(const struct agent *agent, uint32_t wait)
{
	uint32_t call = wait == WAIT_ADDRESS ? agent->thread->calls : wait;

	return call == WAIT_MUTEX || call == WAIT_READ_LOCK || call == WAIT_WRITE_LOCK ||
	       call == WAIT_SPINLOCK;
}
INLINE void observe_close(struct thread *thread)
{
	thread->closed = *thread->order;
}
INLINE void token_give(struct agent *me, struct agent *next)
{
	(void)me;
	lock_hand_over(next->thread);
}
bool blocking_poll(bool wait); /* wakes those whose input is there; waits for it in reality */
bool outside_can_come(void);

/* ---- of those files: said in loom/runtime/control/control.h what they do ---- */
struct point {
	uint32_t site, access;
	uint64_t address, size;
};
void agents_prepare(void);
void agents_admit(uint32_t slot);
void agent_readies(struct agent *agent);
void agent_rises(struct agent *agent);
void agent_leaves_ready(struct agent *agent);
void agent_blocks(struct agent *agent);
void control_unblock(struct agent *agent, enum wait_result result);
void control_expire(struct agent *agent);
uint64_t first_deadline(void);
void expire_due(void);
bool expire_first(void);

void control_expired_early(const struct agent *agent);
void pass_point(struct agent *me);
struct agent *next_after(struct agent *last, uint32_t end);
void give_token(struct agent *me, struct agent *next, uint32_t end);
void point_pass(struct agent *me, struct point point);
void control_forget(uint64_t address, size_t size);

void spinning_note(struct agent *me);
void spinning_progress(struct agent *me);
bool spinning_repeats(const struct agent *me);
void spinning_look(struct agent *me, uint32_t site, uint64_t address, enum access access);

enum wait_result agent_waits(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline);
INLINE enum wait_result control_wait(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline)
{
	return me->signals && !me->takes_signals && signals_are_due(me)
		       ? WAIT_INTERRUPTED
		       : agent_waits(me, kind, object, deadline);
}
void control_wake(uint32_t kind, uint64_t object);
void control_retract(uint32_t kind, uint64_t object);
bool control_wake_one(uint32_t kind, uint64_t object);

void turns_start(void);
void turns_open(const struct agent *next);
void turns_close(const struct agent *me, uint32_t end);
void turns_wake(const struct agent *chosen);
struct agent *plan_next(struct agent *me, struct agent *last, uint32_t end);
struct agent *plan_wake(uint32_t kind, uint64_t object);
bool plan_blocks_here(void);
bool plan_goes_on(void);

void policy_start(void);
void policy_new(struct agent *agent);
void policy_readies(struct agent *agent);
struct agent *policy_next(struct agent *me);
void policy_passed(struct agent *me);
void policy_demoted(struct agent *me);
void policy_weigh(struct agent *me);
uint64_t policy_eager(struct agent *agent);
uint64_t policy_overdue(const struct agent *agent);
bool policy_lets_expire(const struct agent *agent);

struct agent *places_draw(uint32_t n);
struct agent *places_draw_by_points(uint32_t n);
struct agent *places_highest(uint32_t n);
void groups_join(struct agent *agent);
void groups_set_priority(struct agent *agent);
void groups_sink(const struct agent *me);

void intervene_prepare(void);
void intervene_start(void);
bool intervene_wants(uint32_t site);
bool intervene_covers(const struct thread *self, uint64_t address, size_t size);
void intervene_arrives(struct agent *me);
void intervene(struct agent *me);
bool intervene_lets_go(void);
void intervene_spins(void);
void intervene_ended(struct agent *me);
bool intervene_holds_others(void);
void intervene_ends(struct agent *me);
void waking_missed(struct agent *me, uint64_t condition);
bool waking_reaches_all(struct agent *me);
uint32_t waking_chooses(struct agent **waiters, uint32_t n);
bool waking_at_once(struct agent *me, uint64_t condition);
bool waking_waits_on(struct agent *me);

/* ---- points.c: which accesses are points ---- */
bool points_always(uint32_t site);                             /* it is in the run's set */
bool points_of_claim(uint32_t site, Addr address, SizeT size); /* a claim wants to see the access */
uint32_t points_visit(uint32_t site);

void points_look(bool on);

/* ---- objects.c ---- */
struct object {
	Addr address;
	struct object *next;
	uint32_t number;
	uint32_t holder, holder_site; /* holder AREA_THREAD_GONE = nobody */
	uint32_t missed_thread, missed_site;
	bool missed;
	uint32_t broadcast_thread, broadcast_site; /* of the last broadcast, */
	uint64_t broadcast;                        /* and which signal of all it was; 0 = none */
	uint64_t signalled;                        /* the same of the last signal or broadcast */
};
struct object *object_at(Addr address);
void control_stuck(void) __attribute__((noreturn));

/* ---- lock.c ---- */
void lock_start(void);
void lock_set_token(void);
void lock_fork_child(ThreadId tid);

#endif
