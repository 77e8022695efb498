/* The active tester's runtime, linked into verify builds. A thread that comes to a
 * candidate's access is held until another one is about to touch the same memory, or
 * the time is up; then the two go, one after the other, in the order that is tried.
 * Two threads at a time; in loops only the first rounds and then ever rarer ones are
 * held. Lives in other people's programs: uses libc only, allocates nothing, prints
 * nothing, and never holds a thread for ever. */
#include "loom/active/active.h"
#include "loom/active/stalled.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAITERS 64
#define ALWAYS_HELD 3u /* rounds of a loop in which a thread is held each time */
#define DONE_US 20000u /* an access that two threads met at is done sooner */
#define STAYS_MOST 8u  /* times that threads stayed behind their access in vain, in all */
#define RETIRED 20000u /* arrivals after which a site is left alone */
#define LOOK_US 500u   /* how soon a held thread looks whether anybody can still come, and how soon again */
#define LOOK_LATER 16u /* the most times that, while others move */

/* States of a waiter. A waiter's thread alone leaves SECOND and FIRST. */
enum state {
	FREE,
	WAITING, /* for a partner */
	FIRST,   /* it may go, and tells its partner when it is done */
	SECOND,  /* it goes when its partner is done */
	GO,
};

struct place {
	uint32_t site;
	uintptr_t address;
	uint64_t size; /* 0: none */
};

struct waiter {
	_Atomic uint32_t state; /* also the futex that its thread sleeps on */
	struct place at;
	bool ahead;       /* before a lock that the other side does not hold: its address is the lock's */
	uint32_t partner; /* the other one of the two that met */
	uint64_t since;   /* when it came, in microseconds */
	struct place expected; /* of one that is ahead: where the other one is */
};

/* All mutable state of the runtime. */
static struct {
	struct active_area *area;
	atomic_flag busy; /* guards the waiters; held for a few instructions only */
	_Atomic uint64_t random;
	_Atomic uint32_t late;    /* threads held in vain, in all */
	_Atomic uint32_t waiting; /* threads that wait for a partner now */
	_Atomic uint32_t stayed;  /* threads that stayed in vain, in all */
	struct waiter waiters[WAITERS];
} tester;

/* One byte for each site: does its hook do anything? Read by the inlined part of every hook. */
uint8_t unsnarl_active_sites[ACTIVE_SITES];
/* Is any of them set? Read where a function with hooks is entered: it runs a body without hooks when not. Once it is
 * 0 it stays so, hence nobody in such a body can be missed by a hook that acts. */
uint8_t unsnarl_active_armed;
/* Somebody waits for this thread's access to be done. */
_Thread_local uint8_t unsnarl_active_pending;
static _Thread_local uint32_t pending_partner, rounds[ACTIVE_SITES];
/* The place of this thread, plus 1, in which it stays behind its access; 0 none. */
static _Thread_local uint32_t staying;
/* Where the partner was that this thread met before it took its lock. */
static _Thread_local struct place expected;
static _Thread_local bool inside;

/* When no hook will act any more and no two threads met, the run says nothing of the candidate, however it ends: no
 * need to wait for that. */
static void end_if_idle(void)
{
	if (tester.area->ends_idle && !__atomic_load_n(&unsnarl_active_armed, __ATOMIC_RELAXED) &&
	    !atomic_load(&tester.waiting) && !__atomic_load_n(&tester.area->meetings, __ATOMIC_RELAXED)) {
		__atomic_store_n(&tester.area->ended, 1, __ATOMIC_RELAXED);
		_exit(0);
	}
}

/* Before the program's own constructors, which may come to an access already. */
__attribute__((constructor(101))) static void start(void)
{
	const char *path = secure_getenv(ACTIVE_ENVIRONMENT);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	struct active_area *area = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (area == MAP_FAILED || area->magic != ACTIVE_MAGIC || area->version != ACTIVE_VERSION)
		return;
	tester.area = area;
	tester.random =
		(area->seed * 2 + 1) * 0x9e3779b97f4a7c15ull; /* so that small seeds differ in many bits */
	for (uint32_t i = 0; area->delay_us && i < area->nsites && i < ACTIVE_SITES; i++)
		unsnarl_active_armed = unsnarl_active_sites[i] = 1;
}

/* Bytes that every hook reads while they are cleared here: who reads the old value asks once more in vain. */
static void retire(uint32_t first, uint32_t behind)
{
	uint8_t any = 0;

	for (uint32_t i = first; i < behind; i++)
		__atomic_store_n(&unsnarl_active_sites[i], 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < ACTIVE_SITES; i++)
		any |= __atomic_load_n(&unsnarl_active_sites[i], __ATOMIC_RELAXED);
	if (!any)
		__atomic_store_n(&unsnarl_active_armed, 0, __ATOMIC_RELAXED);
}

static void enter(void)
{
	while (atomic_flag_test_and_set_explicit(&tester.busy, memory_order_acquire))
		sched_yield();
}

static void leave(void)
{
	atomic_flag_clear_explicit(&tester.busy, memory_order_release);
}

static uint64_t next_random(void)
{
	/* Threads may read the same value: it is chance either way. */
	uint64_t x = atomic_load_explicit(&tester.random, memory_order_relaxed);

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	atomic_store_explicit(&tester.random, x, memory_order_relaxed);
	return x * 0x2545f4914f6cdd1dull >> 32; /* the low bits alone are poor */
}

static uint64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u;
}

/* Sleeps while the state is `state`, at most until `end`. */
static void sleep_while(struct waiter *waiter, enum state state, uint64_t end)
{
	for (uint64_t now; atomic_load(&waiter->state) == (uint32_t)state && (now = now_us()) < end;) {
		struct timespec left = { .tv_sec = (time_t)((end - now) / 1000000u),
					 .tv_nsec = (long)((end - now) % 1000000u * 1000u) };

		syscall(SYS_futex, &waiter->state, FUTEX_WAIT_PRIVATE, (uint32_t)state, &left, NULL, 0);
	}
}

static void wake(struct waiter *waiter, enum state state)
{
	atomic_store(&waiter->state, (uint32_t)state);
	syscall(SYS_futex, &waiter->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- pairs ---- */

static bool overlap(const struct place *a, const struct place *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

static bool fit(const struct place *at, bool ahead, const struct waiter *other)
{
	const struct active_site *a = &tester.area->sites[at->site], *b = &tester.area->sites[other->at.site];

	if (a->cross || b->cross)
		return a->cross && b->cross &&
		       (at->site != other->at.site || at->address != other->at.address);
	if (!a->writes && !b->writes)
		return false;
	/* Two that are ahead are on the same side. */
	return ahead || other->ahead ? ahead != other->ahead : overlap(at, &other->at);
}

static struct waiter *find_partner(const struct place *at, bool ahead)
{
	for (uint32_t i = 0; i < WAITERS; i++)
		if (atomic_load(&tester.waiters[i].state) == WAITING && fit(at, ahead, &tester.waiters[i]))
			return &tester.waiters[i];
	return NULL;
}

static struct waiter *take_place(const struct place *at, bool ahead, enum state state)
{
	for (uint32_t i = 0; i < WAITERS; i++) {
		struct waiter *waiter = &tester.waiters[i];

		if (atomic_load(&waiter->state) != FREE)
			continue;
		waiter->at = *at;
		waiter->ahead = ahead;
		waiter->partner = WAITERS;
		waiter->since = now_us();
		waiter->expected = (struct place){ 0 };
		atomic_store(&waiter->state, (uint32_t)state);
		return waiter;
	}
	return NULL;
}

static uint32_t number_of(const struct waiter *waiter)
{
	return waiter ? (uint32_t)(waiter - tester.waiters) : WAITERS;
}

/* Does the thread that came last go first? */
static bool last_goes_first(uint32_t site, uint32_t waiting)
{
	switch (tester.area->order) {
	case ACTIVE_LOWER_FIRST:
		return site <= waiting;
	case ACTIVE_HIGHER_FIRST:
		return site > waiting;
	default:
		return next_random() & 1;
	}
}

/* `own` is this thread's place, which it keeps while it stays behind its access; NULL: it does not stay. */
static void go_first(struct waiter *own, uint32_t partner)
{
	bool stays = tester.area->stays && partner < WAITERS &&
		     atomic_load_explicit(&tester.stayed, memory_order_relaxed) < STAYS_MOST;

	pending_partner = partner;
	unsnarl_active_pending = 1;
	if (own)
		atomic_store(&own->state, stays ? SECOND : FREE);
	staying = own && stays ? number_of(own) + 1 : 0;
}

/* Waits for the partner's access to be done, which takes no time unless it must wait for a lock first. Says to a
 * partner that stays when this access is done. */
static void go_second(struct waiter *waiter)
{
	uint32_t partner = waiter->partner;

	sleep_while(waiter, SECOND, now_us() + DONE_US);
	atomic_store(&waiter->state, FREE);
	if (tester.area->stays && partner < WAITERS) {
		pending_partner = partner;
		unsnarl_active_pending = 1;
	}
}

/* Has nobody been held longer, and is nobody about to go on by itself? */
static bool is_first_to_give_up(const struct waiter *waiter)
{
	bool first = true;

	enter();
	for (uint32_t i = 0; i < WAITERS; i++) {
		uint32_t state = atomic_load(&tester.waiters[i].state);

		first &= state == FREE || (state == WAITING && tester.waiters[i].since >= waiter->since);
	}
	leave();
	return first;
}

/* Sleeps until a partner comes or the time is up. When every other thread waits for one of this process, nobody can
 * come however long this one is held, so it goes; of several that are held, the one that came first, since the
 * others may still be met by it. */
static void sleep_until_met(struct waiter *waiter)
{
	uint64_t end = waiter->since + tester.area->delay_us, step = LOOK_US, seen = 0, mark;

	for (uint64_t now = waiter->since; now < end; now = now_us()) {
		sleep_while(waiter, WAITING, now + step < end ? now + step : end);
		if (atomic_load(&waiter->state) != WAITING)
			return;
		if (now + step >= end || !is_first_to_give_up(waiter) ||
		    !stalled_all_others(tester.waiters, sizeof tester.waiters, &mark)) {
			step = step < LOOK_LATER * LOOK_US ? 2 * step : step;
			seen = 0;
			continue;
		}
		if (mark == seen)
			return;
		seen = mark;
		step = LOOK_US;
	}
}

static void wait_for_partner(struct waiter *waiter)
{
	sleep_until_met(waiter);
	enter();
	enum state state = (enum state)atomic_load(&waiter->state);

	if (state == WAITING) {
		atomic_store(&waiter->state, FREE);
		__atomic_fetch_add(&tester.area->sites[waiter->at.site].late, 1, __ATOMIC_RELAXED);
		tester.late++;
	}
	leave();
	if (state != WAITING)
		expected = waiter->expected;
	if (state == FIRST)
		go_first(waiter, waiter->partner);
	else if (state == SECOND || state == GO)
		go_second(waiter);
}

static void count_meeting(uint32_t site, uint32_t other)
{
	struct active_site *sites = tester.area->sites;

	__atomic_fetch_add(&sites[site].met, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sites[other].met, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tester.area->meetings, 1, __ATOMIC_RELAXED);
}

/* The two have met; called with the waiters guarded. */
static void meet(const struct place *at, bool ahead, struct waiter *partner)
{
	if (ahead)
		expected = partner->at;
	else if (partner->ahead)
		partner->expected = *at;
	else
		count_meeting(at->site, partner->at.site);
	/* Locks of a circle are all taken at once: each waits for the other by itself. */
	if (tester.area->sites[at->site].cross) {
		wake(partner, GO);
		leave();
		return;
	}
	struct waiter *own = take_place(at, ahead, SECOND);

	partner->partner = number_of(own);
	if (own)
		own->partner = number_of(partner);
	if (last_goes_first(at->site, partner->at.site)) {
		wake(partner, SECOND);
		leave();
		go_first(own, number_of(partner));
		return;
	}
	wake(partner, FIRST);
	leave();
	if (own)
		go_second(own);
}

/* In a loop: the first rounds, then each power of two. What needs two certain rounds to meet may never come so:
 * hence in other runs as many by chance, ever rarer ones as well. */
static bool is_worth_holding(uint32_t round)
{
	if (tester.area->scattered)
		return next_random() % (round <= 4 ? 2 : round / 2) == 0;
	return round <= ALWAYS_HELD || (round & (round - 1)) == 0;
}

/* Goes with the partner that waits, or is held until one comes if that is worth it. */
static void arrive(const struct place *at, bool ahead, bool worth)
{
	enter();
	struct waiter *partner = find_partner(at, ahead);

	if (partner) {
		meet(at, ahead, partner);
		return;
	}
	struct waiter *own = worth ? take_place(at, ahead, WAITING) : NULL;

	leave();
	if (!own)
		return;
	__atomic_fetch_add(&tester.area->sites[at->site].held, 1, __ATOMIC_RELAXED);
	tester.waiting++;
	wait_for_partner(own);
	tester.waiting--;
}

/* Where the last access has no hook behind it, its thread's place is still taken. */
static void end_stay(void)
{
	if (staying)
		atomic_store(&tester.waiters[staying - 1].state, FREE);
	staying = 0;
}

/* Who frees a block touches all of it; before a lock the address is the lock's. */
static void measure(uint32_t hook, struct place *at)
{
	if (tester.area->sites[at->site].frees && at->address && !(hook & ACTIVE_BEFORE_LOCK))
		at->size = malloc_usable_size((void *)at->address);
}

static void come_to(uint32_t hook, struct place *at)
{
	if (__atomic_fetch_add(&tester.area->sites[at->site].reached, 1, __ATOMIC_RELAXED) > RETIRED)
		retire(at->site, at->site + 1);
	bool worth = is_worth_holding(++rounds[at->site]) && tester.late < tester.area->late_most;

	/* Whoever is not held itself may still be what another waits for. */
	if (worth || atomic_load_explicit(&tester.waiting, memory_order_relaxed)) {
		measure(hook, at);
		end_stay();
		expected.size = 0;
		arrive(at, hook & ACTIVE_BEFORE_LOCK && hook & ACTIVE_LOCK_ALONE, worth);
	} else if (tester.late >= tester.area->late_most) {
		/* Nobody waits, and nobody will be held any more: the hooks have nothing left to do. */
		retire(0, ACTIVE_SITES);
	}
	end_if_idle();
}

/* At an access whose thread met another before it took its lock. */
static void check_expected(uint32_t hook, struct place *at)
{
	if (!expected.size)
		return;
	measure(hook, at);
	if (overlap(at, &expected))
		count_meeting(at->site, expected.site);
	expected.size = 0;
}

/* Before a candidate's access; called only while the site's byte is set. */
__attribute__((cold)) void unsnarl_active_before(uint32_t hook, void *address, uint64_t size)
{
	struct place at = { hook & (ACTIVE_SITES - 1), (uintptr_t)address, size };
	int saved = errno;

	if (!tester.area || inside)
		return;
	inside = true;
	if (!(hook & (tester.area->behind ? ACTIVE_BEFORE_LOCK : ACTIVE_BEHIND_LOCK)))
		come_to(hook, &at);
	else if (hook & ACTIVE_BEHIND_LOCK)
		check_expected(hook, &at);
	inside = false;
	errno = saved;
}

/* The one that went first stays where it is until the other's access is done, or it takes too long. */
static void stay(void)
{
	struct waiter *own = &tester.waiters[staying - 1];

	sleep_while(own, SECOND, now_us() + DONE_US);
	if (atomic_load(&own->state) == SECOND)
		tester.stayed++;
	end_stay();
}

/* After an access that somebody waits for. */
__attribute__((cold)) void unsnarl_active_after(void)
{
	int saved = errno;

	unsnarl_active_pending = 0;
	if (pending_partner < WAITERS) {
		uint32_t second = SECOND;
		struct waiter *partner = &tester.waiters[pending_partner];

		/* It may have given up by now, and its place be another's. */
		if (atomic_compare_exchange_strong(&partner->state, &second, GO))
			syscall(SYS_futex, &partner->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	if (staying)
		stay();
	errno = saved;
}
