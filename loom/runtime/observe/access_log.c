/* Every access in one global order: for runs in which each access must be seen
 * (trace, line granularity). A plain lock makes the order of the log the order
 * in which the cells changed. */
#include "loom/runtime/observe/cells.h"

#include <sched.h>

static void append(struct thread *self, uint64_t order, uint32_t site, uint64_t address, size_t size,
		   uint32_t action)
{
	struct area_process *process = runtime.process;
	uint32_t entry = process->nevents++;
	if (entry >= AREA_EVENTS) {
		process->nevents = AREA_EVENTS + 1;
		observe_dropped();
		return;
	}
	process->events[entry] = (struct area_event){ .address = address,
						      .size = size,
						      .order = order,
						      .site = site,
						      .thread = self->number,
						      .action = action,
						      .state = AREA_VALID };
	if (runtime.options.ntold && action <= AREA_WRITE)
		callers_tell(self);
}

static void lock(void)
{
	/* Acquire and release make one thread's cells and log visible to the next. */
	while (__atomic_exchange_n(&runtime.trace_lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

void trace_begin(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access)
{
	lock();
	if (runtime.options.observe & OBSERVE_TRACE)
		append(self, thread_order(self->slot, WORD_ORDER(word)), WORD_SITE(word), address, size,
		       access == ACCESS_READ ? AREA_READ : AREA_WRITE);
}

void trace_forget(struct thread *self, uint64_t address, size_t size, bool stack)
{
	lock();
	if (runtime.options.observe & OBSERVE_TRACE)
		append(self, stack, self->allocating, address, size, AREA_FORGET);
}

void trace_call(struct thread *self, uint32_t site, uint64_t object, enum area_action action)
{
	if (!(runtime.options.observe & OBSERVE_TRACE))
		return;
	lock();
	append(self, self->order, site, object, 1, action);
	trace_end();
}

void trace_end(void)
{
	__atomic_store_n(&runtime.trace_lock, 0, __ATOMIC_RELEASE);
}
