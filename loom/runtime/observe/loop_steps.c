/* Where an access stood in its thread's loops, found from its order in the
 * thread's ring of recent loop steps. A step that fell out of the ring is
 * unknown, never guessed. */
#include "loom/runtime/observe/cells.h"

struct area_loop loops_at(uint32_t slot, uint64_t order)
{
	const struct thread *thread = &runtime.threads[slot];
	/* Acquire: steps counted here were written before. The owner goes on meanwhile
	 * and may overwrite old steps; those are recognised by their order. */
	uint32_t steps = __atomic_load_n(&thread->loop_steps, __ATOMIC_ACQUIRE);
	uint32_t kept = steps < LOOP_RING ? steps : LOOP_RING;
	for (uint32_t back = 1; back <= kept; back++) {
		struct loop_step step = thread->loops[(steps - back) % LOOP_RING];
		if (step.order >= order)
			continue;
		uint32_t now = __atomic_load_n(&thread->loop_steps, __ATOMIC_ACQUIRE);
		if (now - (steps - back) >= LOOP_RING)
			break;
		return (struct area_loop){ .site = (uint32_t)step.where,
					   .entry = (uint32_t)(step.where >> 32),
					   .iteration = step.iteration };
	}
	if (steps <= LOOP_RING)
		return (struct area_loop){ .site = AREA_LOOP_NONE };
	return (struct area_loop){ .site = AREA_LOOP_NONE, .iteration = AREA_ITERATION_UNKNOWN };
}
