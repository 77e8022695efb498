/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Valgrind's big lock. The core finds its lock through two tables of functions;
 * those here take their place. In a free run it is first come, first served. In a
 * controlled run the thread whose turn it is has it, also while it is in a system
 * call, so that nothing but control.c decides who runs.
 *
 * Threads may change places inside of instrumented code, right before an access:
 * each has its own kernel thread and stack, and what the core knows of the one
 * that runs is put aside meanwhile. */
#include "loom/grind/control.h"
#include "loom/grind/define.h"
#include "loom/grind/tool.h"

#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
#define SLOTS 64u /* those who wait sleep in different places */

struct sched_lock {
	uint32_t next;         /* ticket for who comes next */
	uint32_t serving;      /* who holds that one has the lock */
	uint32_t turns[SLOTS]; /* the last ticket served, by ticket */
	int owner;
};

static struct sched_lock the_lock;
static int *lwps;  /* by Valgrind's number */
static bool token; /* the turn decides who has the lock */

static void sleep_on(uint32_t *place, uint32_t value)
{
	raw_call(__NR_futex, (long)place, FUTEX_WAIT_PRIVATE, (long)value, 0, 0, 0);
}

static void wake_all(uint32_t *place)
{
	raw_call(__NR_futex, (long)place, FUTEX_WAKE_PRIVATE, 0x7fffffff, 0, 0, 0);
}

static uint32_t take_ticket(struct sched_lock *lock)
{
	return __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);
}

static void take_lock(struct sched_lock *lock, uint32_t mine)
{
	uint32_t *place = &lock->turns[mine % SLOTS];

	for (;;) {
		uint32_t seen = __atomic_load_n(place, __ATOMIC_ACQUIRE); /* pairs with give_lock's release */

		if (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) == mine)
			break;
		sleep_on(place, seen);
	}
	lock->owner = VG_(gettid)();
}

static void give_lock(struct sched_lock *lock)
{
	uint32_t next = lock->serving + 1;

	lock->owner = 0;
	__atomic_store_n(&lock->serving, next, __ATOMIC_RELEASE);
	__atomic_store_n(&lock->turns[next % SLOTS], next, __ATOMIC_RELEASE);
	wake_all(&lock->turns[next % SLOTS]);
}

/* ---- whose turn it is ---- */

static ThreadId own_tid(void)
{
	int lwp = VG_(gettid)();

	for (UInt tid = 1; lwps && tid < VG_N_THREADS; tid++)
		if (lwps[tid] == lwp)
			return tid;
	return VG_INVALID_THREADID;
}

/* A thread that has ended may still be there for a moment, and the kernel writes to its memory when it goes. */
static void await_gone(void)
{
	int lwp = __atomic_exchange_n(&control.leaving, 0, __ATOMIC_ACQ_REL);

	while (lwp && raw_call(__NR_tgkill, VG_(getpid)(), lwp, 0, 0, 0, 0) == 0)
		raw_call(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void await_turn(struct thread *me)
{
	uint32_t *go = &me->agent->go;

	/* Acquire pairs with the release in call: all that the last holder did. */
	while (__atomic_load_n(&token, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&control.current, __ATOMIC_ACQUIRE) != me->agent) {
		uint32_t seen = __atomic_load_n(go, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&control.current, __ATOMIC_ACQUIRE) != me->agent &&
		    __atomic_load_n(&token, __ATOMIC_ACQUIRE))
			sleep_on(go, seen);
	}
}

static void call_next(struct thread *next)
{
	__atomic_store_n(&control.current, next->agent, __ATOMIC_RELEASE);
	__atomic_fetch_add(&next->agent->go, 1, __ATOMIC_RELEASE);
	wake_all(&next->agent->go);
}

/* ---- what the core calls ---- */

static const HChar *lock_name(void)
{
	return "unsnarl";
}

static struct sched_lock *lock_create(void)
{
	the_lock = (struct sched_lock){ 0 };
	return &the_lock;
}

static void lock_destroy(struct sched_lock *lock)
{
	(void)lock;
}

static int lock_owner(struct sched_lock *lock)
{
	return lock->owner;
}

static void lock_acquire(struct sched_lock *lock)
{
	ThreadId tid = own_tid();
	struct thread *me = tid == VG_INVALID_THREADID ? NULL : thread_of(tid);

	if (me && token && me->agent)
		await_turn(me);
	take_lock(lock, me && me->queued ? me->ticket : take_ticket(lock));
	if (me) {
		me->queued = false;
		thread_switched(tid);
	}
	if (UNLIKELY(control.leaving))
		await_gone();
}

static void lock_release(struct sched_lock *lock)
{
	give_lock(lock);
}

struct sched_lock_ops {
	const HChar *(*name)(void);
	struct sched_lock *(*create)(void);
	void (*destroy)(struct sched_lock *);
	int (*owner)(struct sched_lock *);
	void (*acquire)(struct sched_lock *);
	void (*release)(struct sched_lock *);
};
extern const struct sched_lock_ops ML_(generic_sched_lock_ops), ML_(linux_ticket_lock_ops);

const struct sched_lock_ops ML_(generic_sched_lock_ops) = { lock_name,  lock_create,  lock_destroy,
							    lock_owner, lock_acquire, lock_release };
const struct sched_lock_ops ML_(linux_ticket_lock_ops) = { lock_name,  lock_create,  lock_destroy,
							   lock_owner, lock_acquire, lock_release };

/* A new kernel thread comes here first. The linker sends the core's calls of the one to the other. */
void __real_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who);
void __wrap_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who);
void __wrap_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who)
{
	lwps[tid] = VG_(gettid)();
	thread_of(tid)->lwp = lwps[tid];
	__real_vgPlain_acquire_BigLock(tid, who);
}

/* ---- changing places ---- */

/* What the core keeps about the instrumented code that runs. */
struct inside {
	UInt counts[5];
	Bool generated;
	uint64_t hooked; /* the mark of the address that the thread is about to access */
};

static struct inside step_out(void)
{
	struct inside inside = { { VG_(stats__n_xIndirs_32), VG_(stats__n_xIndir_hits1_32),
				   VG_(stats__n_xIndir_hits2_32), VG_(stats__n_xIndir_hits3_32),
				   VG_(stats__n_xIndir_misses_32) },
				 VG_(in_generated_code),
				 define.hooked };

	VG_(stats__n_xIndirs_32) = VG_(stats__n_xIndir_hits1_32) = VG_(stats__n_xIndir_hits2_32) = 0;
	VG_(stats__n_xIndir_hits3_32) = VG_(stats__n_xIndir_misses_32) = 0;
	VG_(in_generated_code) = False;
	return inside;
}

static void step_in(const struct inside *inside)
{
	VG_(stats__n_xIndirs_32) = inside->counts[0];
	VG_(stats__n_xIndir_hits1_32) = inside->counts[1];
	VG_(stats__n_xIndir_hits2_32) = inside->counts[2];
	VG_(stats__n_xIndir_hits3_32) = inside->counts[3];
	VG_(stats__n_xIndir_misses_32) = inside->counts[4];
	VG_(in_generated_code) = inside->generated;
	define.hooked = inside->hooked;
}

void lock_leave_soon(ThreadId tid)
{
	UInt none = 0;

	VG_(set_shadow_regs_area)(tid, 0, offsetof(VexGuestAMD64State, host_EvC_COUNTER), sizeof none,
				  (const UChar *)&none);
}

static void let_go(ThreadId tid)
{
	struct inside inside = step_out();

	VG_(release_BigLock)(tid, CORE_YIELDS, "unsnarl");
	__real_vgPlain_acquire_BigLock(tid, "unsnarl");
	step_in(&inside);
	if (UNLIKELY(control.over))
		lock_leave_soon(tid);
}

/* It queues up before it lets go: the kernel may run whoever is woken in its place, which would find the queue empty and
 * be alone until the kernel thinks better of it. */
bool lock_give_way(void)
{
	struct thread *me = grind.thread;

	if (__atomic_load_n(&the_lock.next, __ATOMIC_RELAXED) == the_lock.serving + 1)
		return false;
	me->ticket = take_ticket(&the_lock);
	me->queued = true;
	let_go(me->tid);
	return true;
}

void lock_hand_over(struct thread *next)
{
	struct thread *me = grind.thread;

	call_next(next);
	let_go(me->tid);
}

void lock_leave(struct thread *next)
{
	call_next(next);
}

void lock_set_token(void)
{
	token = true;
}

void lock_set_free(void)
{
	__atomic_store_n(&token, false, __ATOMIC_RELEASE);
	for (uint32_t i = 0;; i++) {
		struct thread *thread = thread_numbered(i);

		if (!thread)
			break;
		if (!thread->agent)
			continue;
		thread->agent->let_go = true; /* whoever is held would ask for the next one's turn again */
		__atomic_fetch_add(&thread->agent->go, 1, __ATOMIC_RELEASE);
		wake_all(&thread->agent->go);
	}
}

void lock_start(void)
{
	lwps = VG_(calloc)("grind.lwps", VG_N_THREADS, sizeof *lwps);
}

void lock_fork_child(ThreadId tid)
{
	for (UInt i = 0; i < VG_N_THREADS; i++)
		lwps[i] = 0;
	lwps[tid] = VG_(gettid)();
	thread_of(tid)->lwp = lwps[tid];
	token = false;
}
