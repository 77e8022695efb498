/* What the room control/ shows to the others. It may use observe/ and the common ground
 * (runtime.h), and knows of synchronisation objects only what is at the end of this file.
 *
 * Controlled mode: one thread, the holder of the token, runs
 * at a time. At every point (points.c says what is one) the plan or
 * the policy decides who goes on. Whatever is below is touched by the holder of
 * the token only, so it needs no locks. Nothing in it may depend on addresses,
 * process numbers or real time, or the same seed would not give the same turns. */
#ifndef RUNTIME_CONTROL_H
#define RUNTIME_CONTROL_H

#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "loom/runtime/observe/observe.h" /* who else has touched a place */

enum agent_state { AGENT_NONE, AGENT_READY, AGENT_BLOCKED, AGENT_ENDED };
enum wait_result { WAIT_WOKEN, WAIT_TIMED_OUT, WAIT_INTERRUPTED };

#define NEVER UINT64_MAX    /* a deadline that does not come */
#define POINT_SYNC 0        /* access of a point that is none: a synchronisation call, */
#define POINT_LINGER 3      /* or a loop that may wait, at a site that is not known */
#define PATIENCE 4096u      /* turns of waiting loops without a point, after which there is one */
#define STILL_MOST 1000000u /* points without any news: everybody spins for ever */
#define SPIN_SITES 64u
#define FEW_AGENTS 32u
#define NEAR_SITES 1024u
#define WAIT_SLEEP 100u /* beside enum area_wait_kind: ends by itself */
#define WAIT_HELD 101u  /* for the sake of a claim (intervene.h) */
#define LOCKS_KNOWN 16u
#define ONCES_KNOWN 4u
#define GROUPS_KNOWN 16u /* threads of further ones belong to the last */
#define PRIORITY_HIGH (1ull << 63)

/* A thread as the scheduler sees it; one per slot. */
struct agent {
	uint32_t go; /* futex: 1 = the token is handed to it */
	uint32_t state;
	struct thread *thread;
	uint32_t number; /* run-wide */
	int tid;
	void *context; /* where it stands when it is carried: its stack pointer; NULL = its kernel thread has it */
	uint64_t pointer; /* libc's, to its thread-local memory */
	/* The point at which it stands. */
	uint32_t site;
	uint32_t access; /* enum access, POINT_SYNC or POINT_LINGER */
	uint64_t address, size;
	uint64_t word;   /* of the last access, to know its parts again */
	uint64_t passed; /* points */
	bool repeated;   /* a turn of a loop like many before, seldom worth a switch: policy_weigh */
	bool inside;     /* in the scheduler or in a call whose points do not count */
	bool yields;
	bool let_go, held,
		held_softly; /* for intervene.c: it need not wait here; it waits; it may be let go for nothing */
	/* What it waits for; of a thread that was woken but has not run yet, what it waited for. */
	uint32_t wait;
	uint32_t result; /* enum wait_result */
	uint64_t object;
	uint64_t deadline;
	uint64_t eager;        /* contested points after which the deadline may come early, */
	uint64_t overdue;      /* and accesses of all threads after which it must */
	uint64_t worked;       /* accesses that are counted in control.work */
	uint64_t queued;       /* when it began to wait: first come, first served */
	struct pollfd *polled; /* WAIT_INPUT */
	uint32_t npolled;
	/* Waits that reality can end: is it over? Asked when others have moved, and while nobody can run. */
	bool (*look)(struct agent *agent);
	const void *looked; /* its argument */
	bool foreign;       /* it waits for what is outside of the process by its nature */
	bool looked_last;   /* at an object in shared memory, since the last child has ended (outside.c) */
	bool takes_signals; /* in sigwait */
	const void *stream; /* of stdio, in which it reads */
	bool restarts;      /* the last interruption was by handlers after which calls go on */
	uint64_t signals;   /* sent to it, a bit each: it gets them when its turn comes */
	uint64_t handled;   /* handlers that ran in it */
	uint64_t time;      /* it has slept until then: its clock is ahead when that is later than now */
	/* For policies. */
	uint64_t priority;
	uint64_t left;
	uint32_t group; /* threads made by one call to run one function (symmetric.c) */
	/* Spinning: how many points in a row were known ones. */
	uint32_t streak, demotions;
	bool wrote;
	bool demoted;
	/* The access that is looked at: how much of it is certain, and the last one, for heap_check. */
	enum { EXTENT_WHOLE, EXTENT_FIRST_BYTE, EXTENT_FREED_BLOCK } extent;
	uint64_t certain; /* with EXTENT_FIRST_BYTE: the address of that byte */
	uint32_t checked_site;
	uint64_t checked_read;
	uint64_t demoted_until; /* contested points */
	uint32_t clock_reads;
	/* Locks that it holds, in the order in which it took them; of more than so many the first. */
	struct {
		uint64_t object;
		uint64_t order;   /* of the thread when it took it */
		uint64_t signals; /* control.signals then */
		uint32_t site;
	} locks[LOCKS_KNOWN];
	uint32_t nlocks;
	bool missed; /* it waits, and the last broadcast came between its taking the mutex and its wait */
	struct {     /* the last signal, while it waits at a condition variable, that woke another */
		uint32_t site, thread; /* of whoever gave it; site 0 = none */
		uint32_t taker_site, taker;
	} taken;
	bool stuck;      /* it waits in a circle: control_in_circle */
	uint32_t nonces; /* routines that run once and that it is in (once.c) */
	const void *onces[ONCES_KNOWN];
	/* Life. */
	uint64_t stack_low, stack_size; /* low 0: where libc puts it */
	pthread_t id;
	bool has_id, detached, joined;
	bool cancel_disabled, cancel_asynchronous, cancelled;
	bool in_library; /* libc works for it inside a call of ours: locks there are waited for, but are no points */
	bool spreads;      /* it has to leave the core that all runs of a worker share (processors.c) */
	bool serves_timer; /* it only runs what a timer of the program wants run */
	struct {
		uint32_t site;
		uint64_t address;
	} known[SPIN_SITES];
};

struct control {
	struct area_control options;
	struct area_schedule *schedule;
	struct agent *agents;            /* by slot */
	struct agent *current;           /* has the token */
	struct agent *carrier;           /* whose kernel thread runs */
	bool carries;                    /* kernel threads may run as other threads than their own */
	struct agent **ready, **blocked; /* those of agents.c */
	struct agent **candidates;       /* twice as many: who may be chosen (policies.c) */
	uint32_t nready, nblocked;       /* ready: by number; blocked: in the order in which they came */
	uint32_t exiting;                /* 1: one of those who are ready is about to end the program */
	uint32_t ntimed;                 /* blocked ones with a deadline */
	uint32_t ninputs;                /* blocked ones that reality can wake (look) */
	uint32_t arrived;                /* signals that came to threads without the token (handlers.c) */
	uint64_t handlers;               /* signals for which the program has a handler, a bit each */
	uint64_t timer_deadline;         /* of the program's first timer */
	uint32_t timer_files;            /* timers that are files */
	uint32_t ndemoted;
	bool intervenes;                /* a claim is forced or forbidden */
	bool review;                    /* priorities or the ready ones changed: the policy must look again */
	uint32_t child;                 /* number of the thread that lives on in the child of a fork */
	bool outside;                   /* waits for input in reality */
	bool is_child;                  /* of a fork: it runs free */
	bool forked;                    /* other processes may hold ends of our pipes */
	bool strangers;                 /* threads that are not under control were seen (outside.c) */
	uint32_t pinned;                /* stdio locks that are held: no switch */
	uint64_t stack_low, stack_size; /* asked for of the thread that is being made */
	uint64_t stacks_low, stacks_high; /* of all threads but the first */
	bool stacks_seen;                 /* somebody may have accessed a place there that is not his own */
	int pid, leaving;
	uint64_t now, next_deadline; /* virtual time in ns since the start */
	uint64_t contested, still, waits;
	uint64_t fair_at;      /* points after which nobody may be kept waiting any longer */
	uint32_t patience;     /* of a thread from a point on: turns of waiting loops; 0 = endless */
	uint32_t seen;         /* accesses, in a lean run */
	bool looking;          /* no access takes a short way (spinning.c) */
	uint64_t next_overdue; /* not later than that of any sleeper */
	uint64_t work;         /* accesses and points of all threads */
	uint64_t signals;      /* and broadcasts to condition variables */
	uint64_t still_most;   /* points without news that are a livelock */
	uint64_t seed_state;
	/* Turns and plan. */
	struct area_turn *turn; /* the one that goes on */
	bool planned;           /* the plan is not used up */
	uint32_t cursor, wakes; /* turn of the plan; choices taken in it */
	uint64_t budget;
	/* Policies. */
	uint32_t nchanges, next_change;
	bool by_site;         /* PCT: changes come before sites, not after points */
	uint64_t lowest;      /* PCT: priorities handed to those that must let others go first */
	struct agent *chosen; /* SURW */
	uint64_t interesting; /* SURW: sites below this hash */
	uint64_t passing;     /* of how many repeated points one may be a switch, a power of two */
	bool by_place;        /* choices are among places, not threads; of PCT among groups */
	struct {
		const void *routine;
		uint32_t site; /* of the call that made its threads */
		uint64_t priority;
	} groups[GROUPS_KNOWN]; /* in order of first use */
	uint32_t ngroups;
	uint32_t phase;                    /* which turns of a loop are not repeated ones */
	uint32_t *near_notes;              /* by site, the first NEAR_SITES: what points.c knows of them, */
	uint32_t *notes;                   /* by site */
	struct agent *few[4 * FEW_AGENTS]; /* all three lists as long as there are few threads */
};
extern HIDDEN struct control control;

/* ---- token.c: the token changes hands ---- */
HIDDEN void token_start(struct agent *me);
HIDDEN void token_begin(struct agent *me); /* in a new thread: returns when it has the token */
HIDDEN void token_give(struct agent *me, struct agent *next); /* returns when `me` has it again */
HIDDEN void token_leave(struct agent *next);                  /* from a thread that ends */
HIDDEN void token_go_home(struct agent *me);                  /* on its own kernel thread from here on */
HIDDEN void token_carry_no_more(struct agent *me);            /* all of them */

/* ---- processors.c ---- */
HIDDEN void processors_follow(int process);     /* to where this process runs; the program does not notice */
HIDDEN void processors_begin(struct agent *me); /* in a new thread */
HIDDEN void processors_after_fork(void);        /* the child runs free, where it likes */

/* ---- agents.c: sets of agents ---- */
HIDDEN void agents_prepare(void);
HIDDEN void agents_admit(uint32_t slot); /* the lists have room for its agent */
HIDDEN void agent_readies(struct agent *agent);
HIDDEN void agent_rises(struct agent *agent); /* it is not demoted any more */
HIDDEN void agent_leaves_ready(struct agent *agent);
HIDDEN void agent_blocks(struct agent *agent);
HIDDEN void control_unblock(struct agent *agent, enum wait_result result);
/* Its deadline has come. Time passes for all when nobody else can run, else for this thread alone. */
HIDDEN void control_expire(struct agent *agent);
HIDDEN uint64_t first_deadline(void); /* of waits and timers; NEVER */
INLINE uint64_t time_of(const struct agent *agent);
HIDDEN void expire_due(void);   /* those whose time has come are ready */
HIDDEN bool expire_first(void); /* nobody can run: time passes until the first sleeper wakes */

/* ---- pass.c ---- */
HIDDEN void pass_point(struct agent *me);
/* Whom to run when the running thread has blocked or ended. */
HIDDEN struct agent *next_after(struct agent *last, uint32_t end);
/* The running thread stops here; returns when it has the token again. */
HIDDEN void give_token(struct agent *me, struct agent *next, uint32_t end);

/* ---- control.c ---- */
HIDDEN void control_prepare(void); /* what is the same for all runs */
HIDDEN void control_start(void);
HIDDEN void control_before_fork(void);
HIDDEN void control_after_fork(void);
/* The agent of the calling thread when it is controlled and not inside the runtime, else NULL. */
HIDDEN struct agent *control_enter(void);
INLINE struct agent *control_me(void)
{
	return LIKELY(!runtime.controlled) ? NULL : control_enter();
}
/* The agent of the calling thread when libc works for it inside a call of ours, else NULL. */
INLINE struct agent *control_in_library(void)
{
	struct agent *me = control.current;
	return me && me->in_library && me->inside && me->thread == unsnarl_self ? me : NULL;
}
/* Where a thread stands: what it is about to do. */
struct point {
	uint32_t site;
	uint32_t access; /* enum access, POINT_SYNC or POINT_LINGER */
	uint64_t address, size;
};
/* The one way through a point, for accesses and synchronisation calls alike: the thread is about to do
 * this, and does it when the call returns; meanwhile others may have run. */
HIDDEN void point_pass(struct agent *me, struct point point);

/* ---- spinning.c: threads that go in circles ---- */
HIDDEN void spinning_note(struct agent *me);          /* it stands at a point */
HIDDEN void spinning_progress(struct agent *me);      /* it has done what cannot be done in circles */
HIDDEN bool spinning_repeats(const struct agent *me); /* as many known points in a row as spinning has */
/* An access that is no point, while control.looking. */
HIDDEN void spinning_look(struct agent *me, uint32_t site, uint64_t address, enum access access);

/* ---- points.c: what is a point ---- */
HIDDEN void points_prepare(void);
HIDDEN void points_start(void);
/* Is every access at this site a point in this run? */
HIDDEN bool points_always(uint32_t site);
HIDDEN void points_look(bool on);            /* short ways are closed, or open again */
HIDDEN uint32_t points_visit(uint32_t site); /* how many there were, this one included */
/* A point: the call that stands at the thread's synchronisation site, on `object`. */
HIDDEN void control_call(struct agent *me, const volatile void *object);
/* A point at which `me` does nothing, so that others get a turn. */
HIDDEN void control_give_way(struct agent *me);
/* The same without a decision of its own. */
HIDDEN void control_note_site(struct agent *me, const volatile void *object);
HIDDEN void control_uncontrolled(const char *what);
/* An experiment: a wait of the thread runs out while others could go on. The first one is what is told. */
HIDDEN void control_expired_early(const struct agent *agent);
HIDDEN uint64_t control_random(void);
INLINE uint64_t control_below(uint64_t n)
{
	return (uint64_t)((unsigned __int128)control_random() * n >> 64);
}

/* What tells sites apart and is the same in every run. */
INLINE uint32_t site_key(uint32_t site)
{
	return site;
}

/* What its thread began with. */
INLINE const void *agent_routine(const struct agent *agent)
{
	return agent->thread->routine;
}

/* Accesses that the agent's thread has made. */
INLINE uint64_t agent_order(const struct agent *agent)
{
	return agent->thread->order;
}

/* ---- intervene.c: claims are forced or forbidden ---- */
#include "loom/runtime/control/waking.h"
HIDDEN void intervene_prepare(void);
HIDDEN void intervene_start(void);
/* Is the site one of the claim's? Accesses there are always points. */
HIDDEN bool intervene_wants(uint32_t site);
/* Has another thread a group open that holds this place? Then an access to it may have to wait. */
/* A further part of the access that it has passed. */
HIDDEN void intervene_continues(struct agent *me, uint64_t address, uint64_t size);
HIDDEN bool intervene_covers(const struct thread *self, uint64_t address, size_t size);
/* `me` has come to a point: what it did before is done. */
HIDDEN void intervene_arrives(struct agent *me);
/* `me` is about to do what it stands at; returns when it may. */
HIDDEN void intervene(struct agent *me);
/* Nobody else can run: one of those who are held may go on. False when nobody is held. */
HIDDEN bool intervene_lets_go(void);
/* All others only spin, at one more point: they may wait for somebody who is held. */
HIDDEN void intervene_spins(void);
HIDDEN void intervene_ended(struct agent *me);
/* Is anybody held now? */
HIDDEN bool intervene_holds_others(void);
/* `me` is about to end the program (program_exit.c). */
HIDDEN void intervene_ends(struct agent *me);

/* ---- waiting.c ---- */
/* Blocks until somebody wakes the object's waiters, until the deadline, or until interrupted. */
HIDDEN enum wait_result agent_waits(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline);
/* The same, with errno as it was. */
HIDDEN enum wait_result control_wait(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline);
HIDDEN void control_wake(uint32_t kind, uint64_t object);
/* Those who were woken but have not run wait again: somebody else took the object. */
HIDDEN void control_retract(uint32_t kind, uint64_t object);
/* Wakes one waiter, by plan or policy; false when nobody waits. */
HIDDEN bool control_wake_one(uint32_t kind, uint64_t object);

/* ---- life.c ---- */
HIDDEN void control_created(struct thread *thread); /* can run when it is ready (agents.c) */
HIDDEN void control_discarded(struct thread *thread);
/* Where the thread's stack lies, from what its creator asked for. */
HIDDEN void control_stack(struct thread *thread);
HIDDEN void control_begin(struct thread *thread); /* in the new thread: returns when its turn comes */
HIDDEN void control_ended(struct thread *thread);

/* ---- ends.c: a run that cannot go on ---- */
HIDDEN void control_finish(uint32_t end) __attribute__((noreturn));
HIDDEN void control_stuck(void) __attribute__((noreturn));
HIDDEN bool control_in_circle(void); /* do threads hold locks that they wait for? */
/* Since which call a thread has a lock; NULL = it has not. */
HIDDEN const uint32_t *site_of_lock(const struct agent *agent, uint64_t object);
/* For a thread that has waited long for its turn: does the holder of the token sleep in the kernel? */
HIDDEN void control_watch(uint64_t *points);
HIDDEN char control_state_of(int tid); /* the letter that the kernel gives it; 0 = not known */

/* ---- turns.c: the turns of the run and those of the plan ---- */
HIDDEN void turns_start(void);
HIDDEN void turns_open(const struct agent *next);
HIDDEN void turns_close(const struct agent *me, uint32_t end);
HIDDEN void turns_wake(const struct agent *chosen);
/* Whom the plan wants next; `me` stands at a point, or is NULL when the running thread blocked or ended
 * (`last`). NULL when the plan is used up. */
HIDDEN struct agent *plan_next(struct agent *me, struct agent *last, uint32_t end);
HIDDEN struct agent *plan_wake(uint32_t kind, uint64_t object);
/* A replay: did the running thread block at the call where it stands, or find its input there? Input from
 * outside may come earlier or later than it did. */
HIDDEN bool plan_blocks_here(void);
HIDDEN bool plan_goes_on(void);

/* ---- policies.c ---- */
HIDDEN void policy_start(void);
HIDDEN void policy_new(struct agent *agent);
HIDDEN void policy_readies(struct agent *agent); /* it has waited, and was woken */
/* Whom to run; `me` stands at a point, NULL when it blocked or ended. NULL when nobody is ready. */
HIDDEN struct agent *policy_next(struct agent *me);
/* `me` is about to do what it stands at. */
HIDDEN void policy_passed(struct agent *me);
HIDDEN void policy_demoted(struct agent *me);
/* How much a switch is worth at the point where `me` stands. */
HIDDEN void policy_weigh(struct agent *me);
/* From which contested point on a sleeper may be chosen before its time; NEVER = only when nobody else can run. */
HIDDEN uint64_t policy_eager(struct agent *agent);
/* And after how many accesses of the others it is chosen first of all. */
HIDDEN uint64_t policy_overdue(const struct agent *agent);
/* May a plan that is no replay let its time come now? */
HIDDEN bool policy_lets_expire(const struct agent *agent);

/* ---- symmetric.c: threads that run the same code ---- */
/* One of the first `n` candidates: of a place drawn among places, of there one drawn among all, */
HIDDEN struct agent *places_draw(uint32_t n);
HIDDEN struct agent *places_draw_by_points(uint32_t n); /* or by the points they have left; */
/* or of the highest priority among one of each place. */
HIDDEN struct agent *places_highest(uint32_t n);
HIDDEN void groups_join(struct agent *agent); /* a new thread, made by the running one */
HIDDEN void groups_set_priority(struct agent *agent);
HIDDEN void
groups_sink(const struct agent *me); /* all of its group have lower priorities than anybody else */

/* ---- objects.c: what reports say about objects ---- */
struct object {
	uint64_t address;
	uint32_t next; /* of the same hash, + 1 */
	uint32_t number;
	uint32_t holder, holder_site; /* holder AREA_THREAD_GONE = nobody */
	uint32_t missed_thread, missed_site;
	bool missed;
	uint32_t broadcast_thread, broadcast_site; /* of the last broadcast, */
	uint64_t broadcast;                        /* and which signal of all it was; 0 = none */
};
HIDDEN void objects_prepare(void);
HIDDEN struct object *object_at(uint64_t address);
HIDDEN void object_held(struct agent *me, const volatile void *address);
HIDDEN void object_released(const volatile void *address);
/* The same of a lock, which is given back by whoever took it. */
HIDDEN void object_entered(struct agent *me, const volatile void *address);
/* Notes a signal, or a broadcast, that comes when nobody waits: perhaps somebody will, for ever. */
HIDDEN void object_signalled(struct agent *me, const volatile void *condition, bool to_all, bool unheard);
/* `me` is about to wait, and still has the mutex: notes a broadcast that came since it took it. */
HIDDEN void object_awaited(struct agent *me, const volatile void *condition, const volatile void *mutex);
/* `me` gives a lock back, of which others may hold a part still. */
HIDDEN void object_left(struct agent *me, const volatile void *address);

/* ---- heap_blocks.c: blocks of the heap ---- */
#define HEAP_TAIL 56u /* bytes that a block that is followed has beyond what was asked for */
HIDDEN void heap_prepare(void);
HIDDEN bool heap_follows(void); /* are blocks followed that the calling thread allocates? */
/* libc gave out a block of `usable` bytes, of which the program asked for `size`. */
HIDDEN void heap_born(void *block, size_t size, size_t usable);
/* Does such an access keep to heap blocks, as far as they are known? False also when that takes a longer look. */
HIDDEN bool heap_allows(struct agent *me, uint64_t site, uint64_t address, size_t size, enum access access);
/* How much of a block the program may use; `usable` for those that are not followed. */
HIDDEN size_t heap_size(const void *block, size_t usable);
HIDDEN void heap_gone(void *block, size_t usable); /* it goes back to libc */
/* Between these the write that stands for freeing is recorded. */
HIDDEN void heap_about_to_free(bool begins);
/* What the calling thread frees next, at which site. */
HIDDEN void heap_freeing(uint64_t block, uint32_t site);
/* A freed block is kept from libc; false when it must go back at once. Freed before, the run ends. */
HIDDEN bool heap_keep(void *block, size_t usable);
HIDDEN bool heap_keeps(const void *block, size_t usable); /* would it be, or is it too large? */
/* The block has another size from here on; false when libc must see to that. */
HIDDEN bool heap_resize(void *block, size_t size, size_t usable);
/* A block kept long enough, or any; NULL when there is none. It counts until heap_returned. */
HIDDEN void *heap_surplus(bool all);
HIDDEN void heap_returned(size_t usable);

/* ---- what sync/ does when control asks for it ---- */
HIDDEN void mutex_abandon(const struct agent *ended); /* its robust ones can be had */
HIDDEN bool blocking_poll(bool wait); /* wakes those whose input is there; waits for it in reality */
HIDDEN void signals_deliver(struct agent *me);
HIDDEN void signals_take(void); /* those that came to threads without the token (control.arrived) */
INLINE void take_arrived_signals(void)
{
	if (UNLIKELY(control.arrived))
		signals_take();
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
HIDDEN void timers_fire(void); /* those whose time has come */
/* Can anything from outside change what the threads wait for, be it in calls or in loops? */
HIDDEN bool outside_can_come(void);
/* Is somebody there who has to be given time: other processes that the program has started, other ends of its
 * connections? */
HIDDEN bool outside_is_at_work(void);

INLINE bool is_at_lock(const struct agent *agent, uint32_t wait)
{
	(void)agent;
	return wait == WAIT_MUTEX || wait == WAIT_READ_LOCK || wait == WAIT_WRITE_LOCK ||
	       wait == WAIT_SPINLOCK;
}

INLINE uint64_t time_of(const struct agent *agent)
{
	return agent->time > control.now ? agent->time : control.now;
}

#endif
