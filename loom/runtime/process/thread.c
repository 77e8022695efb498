/* Threads: each living one has a slot, which its event words carry, and a number
 * in order of creation, which people see. A slot is used again only when all
 * have been used once; before that, what its last thread left in the cells is
 * rewritten to stand for a thread that is gone (recycle.c). */
#include "loom/runtime/process/process.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

struct thread unsnarl_nobody = {
	.owner = OWNER_NEVER, .row = TAG_NEVER, .tag = TAG_NEVER, .memos = (struct memo *)MEMOS_START
};
__thread struct thread *unsnarl_self __attribute__((tls_model("initial-exec"))) = &unsnarl_nobody;
static __thread bool departed;

static pthread_key_t end_key;
static HOT pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

/* Runs at thread exit, after the program's own thread-local destructors: glibc
 * repeats the round for keys set again, so the last round is ours. */
static void at_thread_exit(void *round)
{
	uintptr_t rounds = (uintptr_t)round;
	if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(end_key, (void *)(rounds + 1)) == 0)
		return;
	thread_end();
}

void thread_start(void)
{
	runtime.threads = runtime_map(0, (size_t)AREA_SLOTS * sizeof(struct thread));
	runtime.no_memos = runtime_map(NO_MEMOS_START, MEMOS_SIZE);
	pthread_key_create(&end_key, at_thread_exit);
}

/* A slot that no cell names: one never used, or all those recycled. Called with slots_lock. */
static struct thread *free_slot(bool *used)
{
	static HOT uint32_t next = 1; /* and all behind it were never used */
	*used = next == SLOT_GONE;
	if (!*used)
		return &runtime.threads[next++];
	for (int attempt = 0; attempt < 2; attempt++) {
		for (uint32_t slot = 1; slot < SLOT_GONE; slot++)
			if (runtime.threads[slot].state == THREAD_FREE)
				return &runtime.threads[slot];
		if (attempt == 0 && !recycle_slots())
			break;
	}
	return NULL;
}

/* Which short ways its accesses may take: none where every access must be seen; in short controlled runs only
 * those to what is private, which take no memory. */
void thread_set_ways(struct thread *thread)
{
	const struct area_control *control_options = &runtime.head->control;
	/* Whoever comes to a place of a group that is one step for others must be seen. */
	bool never = runtime.always_slow ||
		     (runtime.controlled && (control_options->everywhere || control_options->stop_order ||
					     claim_forbids(&control_options->claim)));
	bool all = !never && !runtime.lean;
	uint32_t slot = thread->slot;
	thread->owner = all ? OWNER(slot, 0u, 0u) : (uint16_t)OWNER_NEVER;
	thread->tag = never ? TAG_NEVER : thread->word;
	thread->row = never ? TAG_NEVER : row_low(slot);
	thread->memos = all ? (struct memo *)(MEMOS_START + slot * MEMOS_SIZE) : runtime.no_memos;
}

struct thread *thread_new(void)
{
	if (!runtime.active)
		return NULL;
	pthread_mutex_lock(&slots_lock);
	bool used;
	struct thread *thread = free_slot(&used);
	if (thread) {
		uint32_t slot = (uint32_t)(thread - runtime.threads);
		uint32_t generation = used ? thread->generation : 0;
		if (used) { /* else all is zero, and not there yet: a page that is read first comes twice */
			memset(thread, 0, offsetof(struct thread, rereads));
			memset(thread->met, 0, sizeof thread->met);
			memset(thread->rereads, 0, sizeof thread->rereads);
			memset(thread->passable, 0, sizeof thread->passable);
			memset(thread->moved, 0, sizeof thread->moved);
			memset(thread->exhausted, 0, sizeof thread->exhausted);
			memset(thread->changes, 0, sizeof thread->changes);
			memset(thread->cached_steps, 0, sizeof thread->cached_steps);
			memset(thread->steps, 0, sizeof thread->steps);
			memset(thread->listed, 0, sizeof thread->listed);
			memset(thread->logged, 0, sizeof thread->logged);
			units_forget_memos(slot);
		}
		thread->slot = slot;
		thread->generation = generation + 1;
		thread->word = (uint64_t)slot << WORD_SLOT_SHIFT;
		thread_set_ways(thread);
		thread->context_state = context_empty();
		bool couples = runtime.options.observe & OBSERVE_PAIRS && !runtime.head->control.light;
		thread->couples_left = couples ? COUPLES_PATIENCE : 0;
		thread->number = __atomic_fetch_add(&runtime.head->threads, 1, __ATOMIC_RELAXED);
		thread->random = (runtime.options.seed + thread->number + 1) * 0x9e3779b97f4a7c15u;
		thread->state = THREAD_LIVE;
		runtime.process->slot_order[slot] = 0;
		runtime.process->created++;
		__atomic_fetch_add(&runtime.process->live, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&slots_lock);
	if (!thread)
		observe_dropped();
	return thread;
}

/* A thread that was announced but never came to life. */
void thread_discard(struct thread *thread)
{
	__atomic_fetch_sub(&runtime.process->live, 1, __ATOMIC_RELAXED);
	thread->state = THREAD_FREE;
}

void thread_adopt(struct thread *thread)
{
	unsnarl_self = thread;
	pthread_setspecific(end_key, (void *)1);
	if (thread->number == 0)
		return;
	if (thread->controlled) { /* asking libc would take memory */
		control_stack(thread);
		return;
	}
	pthread_attr_t attributes;
	void *low;
	size_t size;
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
		thread->stack_low = (uint64_t)low;
		thread->stack_high = (uint64_t)low + size;
	}
	pthread_attr_destroy(&attributes);
}

struct thread *thread_self(void)
{
	if (unsnarl_self != &unsnarl_nobody)
		return unsnarl_self;
	if (!runtime.active || departed)
		return NULL;
	departed = true; /* stay out while registering: libc calls below may run hooked code */
	struct thread *thread = thread_new();
	if (thread) {
		thread_adopt(thread);
		departed = false;
	}
	return thread;
}

/* The stack goes back to libc, which gives it to another thread. */
static void forget_stack(struct thread *self)
{
	bool known = runtime.controlled && !control.stacks_seen && !runtime.always_slow;
	uint64_t low = known ? self->touched_low & ~7ull : self->stack_low;
	uint64_t high = known ? (self->touched_high + 7) & ~7ull : self->stack_high;
	if (high)
		runtime_forget(self, low, high - low, false);
}

void thread_end(void)
{
	struct thread *self = unsnarl_self;
	if (self == &unsnarl_nobody)
		return;
	departed = true;
	if (UNLIKELY(runtime.armed))
		armed_behind();
	unsnarl_self = &unsnarl_nobody;
	thread_leave_runtime(self);
	if (self->taken.cell)
		cell_settle(self);
	if (self->posting)
		context_send(self, true);
	forget_stack(self);
	spare_leave(self);
	RELAXED_SET(runtime.process->slot_order[self->slot], 0);
	__atomic_fetch_add(&runtime.process->accesses, self->order, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&runtime.process->live, 1, __ATOMIC_RELAXED);
	/* Release pairs with recycle_slots, which reads the cells this thread wrote. */
	__atomic_store_n(&self->state, THREAD_ENDED, __ATOMIC_RELEASE);
	if (UNLIKELY(runtime.controlled) && self->controlled)
		control_ended(self);
}

void thread_leave_runtime(struct thread *self)
{
	granule_unlock_held(self);
	self->together.on = self->together.n = 0;
}

uint64_t thread_order(uint32_t slot, uint32_t low)
{
	uint64_t now = RELAXED_GET(runtime.threads[slot].order);
	uint64_t mask = order_of_private(low) == low ? PRIVATE_ORDER : 0xffffffffull;
	uint64_t order = (now & ~mask) | (low & mask);
	return order > now && order > mask ? order - (mask + 1) : order;
}

/* Only the calling thread lives on in the child. */
void thread_after_fork(bool renumber)
{
	pthread_mutex_init(&slots_lock, NULL);
	for (uint32_t slot = 1; slot < SLOT_GONE; slot++) {
		struct thread *thread = &runtime.threads[slot];
		if (thread->state == THREAD_LIVE && thread != unsnarl_self)
			thread->state = THREAD_ENDED;
	}
	if (unsnarl_self != &unsnarl_nobody) {
		if (renumber)
			unsnarl_self->number =
				__atomic_fetch_add(&runtime.head->threads, 1, __ATOMIC_RELAXED);
		runtime.process->live = 1;
		runtime.process->created = 1;
		unsnarl_self->order = 0;
		unsnarl_self->held = NULL;
	}
}
