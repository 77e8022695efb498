/* The life of threads under control: announced by their creator, begun when their
 * first turn comes, ended with a turn that goes to somebody else. */
#include "loom/runtime/control/control.h"

#include <sys/syscall.h>

void control_created(struct thread *thread)
{
	struct agent *agent = &control.agents[thread->slot];
	*agent = (struct agent){ .thread = thread,
				 .number = thread->number,
				 .deadline = NEVER,
				 .stack_low = control.stack_low,
				 .stack_size = control.stack_size };
	thread->controlled = 1;
	agents_admit(thread->slot);
	policy_new(agent);
}

/* libc puts a thread's descriptor at the very top of its stack. */
#define DESCRIPTOR_SIZE 0x900u

void control_stack(struct thread *thread)
{
	const struct agent *agent = &control.agents[thread->slot];
	if (!agent->stack_size)
		return;
	uint64_t top = ((uint64_t)pthread_self() + DESCRIPTOR_SIZE + 4095) & ~4095ull;
	thread->stack_low = agent->stack_low ? agent->stack_low : top - agent->stack_size;
	thread->stack_high = thread->stack_low + agent->stack_size;
	if (!control.stacks_high || thread->stack_low < control.stacks_low)
		control.stacks_low = thread->stack_low;
	if (thread->stack_high > control.stacks_high)
		control.stacks_high = thread->stack_high;
	if (agent->stack_low) /* the program's own memory, which may have been used before */
		control.stacks_seen = true;
}

void control_discarded(struct thread *thread)
{
	struct agent *agent = &control.agents[thread->slot];
	agent->state = AGENT_NONE;
}

void control_begin(struct thread *thread)
{
	struct agent *me = &control.agents[thread->slot];
	token_begin(me);
	me->tid = (int)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	processors_begin(me);
	pass_point(me);
}

void control_ended(struct thread *thread)
{
	struct agent *me = &control.agents[thread->slot];
	if (control.current != me)
		return;
	me->inside = true;
	if (UNLIKELY(control.intervenes))
		intervene_ended(me);
	token_go_home(me);
	agent_leaves_ready(me);
	me->state = AGENT_ENDED;
	me->site = 0;
	control_wake(WAIT_JOIN, (uint64_t)me);
	mutex_abandon(me);
	if (control.nready + control.nblocked == 0) { /* libc ends the process */
		turns_close(me, TURN_ENDED);
		control.current = NULL;
		return;
	}
	struct agent *next = next_after(me, TURN_ENDED);
	turns_close(me, TURN_ENDED);
	turns_open(next);
	control.leaving = me->tid == control.pid ? 0 : me->tid;
	token_leave(next);
}
