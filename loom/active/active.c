/* The active tester's runtime, linked into verify builds. A thread that comes to a
 * candidate's access is held until another one is about to touch the same memory, or
 * the time is up; then the two go, one after the other, in the order that is tried.
 * Two threads at a time; in loops only the first rounds and then ever rarer ones are
 * held. Lives in other people's programs: uses libc only, allocates nothing, prints
 * nothing, and never holds a thread for ever. */
#include "loom/active/active.h"

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
#define RETIRED 20000u /* arrivals after which a site is left alone */

/* States of a waiter. A waiter's thread alone leaves SECOND and FIRST. */
enum state {
	FREE,
	WAITING, /* for a partner */
	FIRST,   /* it may go, and tells its partner when it is done */
	SECOND,  /* it goes when its partner is done */
	GO,
};

struct waiter {
	_Atomic uint32_t state; /* also the futex that its thread sleeps on */
	uint32_t site;
	uintptr_t address;
	uint64_t size;
	uint32_t partner; /* of FIRST: the waiter that goes after it */
};

/* All mutable state of the runtime. */
static struct {
	struct active_area *area;
	atomic_flag busy; /* guards the waiters; held for a few instructions only */
	_Atomic uint64_t random;
	_Atomic uint32_t late;    /* threads held in vain, in all */
	_Atomic uint32_t waiting; /* threads that wait for a partner now */
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
static _Thread_local bool inside;

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
	tester.random = area->seed * 2 + 1;
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
	return x;
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

static bool fit(uint32_t site, uintptr_t address, uint64_t size, const struct waiter *other)
{
	const struct active_site *a = &tester.area->sites[site], *b = &tester.area->sites[other->site];

	if (a->cross || b->cross)
		return a->cross && b->cross && (site != other->site || address != other->address);
	return (a->writes || b->writes) && address < other->address + other->size &&
	       other->address < address + size;
}

static struct waiter *find_partner(uint32_t site, uintptr_t address, uint64_t size)
{
	for (uint32_t i = 0; i < WAITERS; i++)
		if (atomic_load(&tester.waiters[i].state) == WAITING &&
		    fit(site, address, size, &tester.waiters[i]))
			return &tester.waiters[i];
	return NULL;
}

static struct waiter *take_place(uint32_t site, uintptr_t address, uint64_t size, enum state state)
{
	for (uint32_t i = 0; i < WAITERS; i++) {
		struct waiter *waiter = &tester.waiters[i];

		if (atomic_load(&waiter->state) != FREE)
			continue;
		waiter->site = site;
		waiter->address = address;
		waiter->size = size;
		atomic_store(&waiter->state, (uint32_t)state);
		return waiter;
	}
	return NULL;
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
		return next_random() >> 33 & 1;
	}
}

static void goes_first(uint32_t partner)
{
	pending_partner = partner;
	unsnarl_active_pending = 1;
}

/* Waits for the partner's access to be done, which takes no time unless it must wait for a lock first. */
static void go_second(struct waiter *waiter)
{
	sleep_while(waiter, SECOND, now_us() + DONE_US);
	atomic_store(&waiter->state, FREE);
}

static void wait_for_partner(struct waiter *waiter)
{
	sleep_while(waiter, WAITING, now_us() + tester.area->delay_us);
	enter();
	enum state state = (enum state)atomic_load(&waiter->state);

	if (state == WAITING) {
		atomic_store(&waiter->state, FREE);
		__atomic_fetch_add(&tester.area->sites[waiter->site].late, 1, __ATOMIC_RELAXED);
		tester.late++;
	}
	leave();
	if (state == FIRST) {
		goes_first(waiter->partner);
		atomic_store(&waiter->state, FREE);
	} else if (state == SECOND || state == GO) {
		go_second(waiter);
	}
}

/* The two have met; called with the waiters guarded. */
static void meet(uint32_t site, uintptr_t address, uint64_t size, struct waiter *partner)
{
	struct active_site *sites = tester.area->sites;

	__atomic_fetch_add(&sites[site].met, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sites[partner->site].met, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tester.area->meetings, 1, __ATOMIC_RELAXED);
	/* Locks of a circle are all taken at once: each waits for the other by itself. */
	if (sites[site].cross) {
		wake(partner, GO);
		leave();
		return;
	}
	if (last_goes_first(site, partner->site)) {
		wake(partner, SECOND);
		leave();
		goes_first((uint32_t)(partner - tester.waiters));
		return;
	}
	struct waiter *own = take_place(site, address, size, SECOND);

	partner->partner = own ? (uint32_t)(own - tester.waiters) : WAITERS;
	wake(partner, FIRST);
	leave();
	if (own)
		go_second(own);
}

/* In a loop: the first rounds, then each power of two. */
static bool is_worth_holding(uint32_t round)
{
	return round <= ALWAYS_HELD || (round & (round - 1)) == 0;
}

/* Goes with the partner that waits, or is held until one comes if that is worth it. */
static void arrive(uint32_t site, uintptr_t address, uint64_t size, bool worth)
{
	enter();
	struct waiter *partner = find_partner(site, address, size);

	if (partner) {
		meet(site, address, size, partner);
		return;
	}
	struct waiter *own = worth ? take_place(site, address, size, WAITING) : NULL;

	leave();
	if (!own)
		return;
	__atomic_fetch_add(&tester.area->sites[site].held, 1, __ATOMIC_RELAXED);
	tester.waiting++;
	wait_for_partner(own);
	/* Nobody waits, and nobody will be held any more: the hooks have nothing left to do. */
	if (atomic_fetch_sub(&tester.waiting, 1) == 1 && tester.late >= tester.area->late_most)
		retire(0, ACTIVE_SITES);
}

/* Before a candidate's access; called only while the site's byte is set. */
__attribute__((cold)) void unsnarl_active_before(uint32_t hook, void *address, uint64_t size)
{
	int saved = errno;
	uint32_t site = hook & (ACTIVE_SITES - 1);

	if (!tester.area || inside || hook & (tester.area->behind ? ACTIVE_BEFORE_LOCK : ACTIVE_BEHIND_LOCK))
		return;
	inside = true;
	if (__atomic_fetch_add(&tester.area->sites[site].reached, 1, __ATOMIC_RELAXED) > RETIRED)
		retire(site, site + 1);
	bool worth = is_worth_holding(++rounds[site]) && tester.late < tester.area->late_most;

	/* Whoever is not held itself may still be what another waits for. */
	if (worth || atomic_load_explicit(&tester.waiting, memory_order_relaxed)) {
		if (tester.area->sites[site].frees && address)
			size = malloc_usable_size(address);
		arrive(site, (uintptr_t)address, size, worth);
	}
	inside = false;
	errno = saved;
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
	errno = saved;
}
