/* The start of controlled mode in a process, and what happens to it at a fork. */
#include "loom/runtime/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

HOT struct control control;

uint64_t control_random(void)
{
	/* splitmix64 */
	uint64_t z = control.seed_state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void control_uncontrolled(const char *what)
{
	char *text = control.schedule->uncontrolled;
	size_t used = strnlen(text, AREA_UNCONTROLLED_BYTES), length = strlen(what);
	const char *found = used ? strstr(text, what) : NULL;
	if (used + length + 2 > AREA_UNCONTROLLED_BYTES || (found && found[length] == '\n'))
		return;
	memcpy(text + used, what, length);
	text[used + length] = '\n';
}

struct agent *control_enter(void)
{
	struct thread *self = unsnarl_self;
	struct agent *me = control.current;
	if (self == &unsnarl_nobody || !me || me->inside || self->held)
		return NULL;
	if (me->thread != self) {
		control_uncontrolled("a signal handler or a thread that runs outside of its turn");
		return NULL;
	}
	return me;
}

enum wait_result control_wait(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline)
{
	int saved = errno;
	enum wait_result result = agent_waits(me, kind, object, deadline);
	errno = saved;
	return result;
}

/* ---- start ---- */

void control_give_way(struct agent *me)
{
	me->yields = true;
	control_call(me, &control);
}

/* The other threads may still do much before the last one has left: the end of main is a point, too. */
static void point_at_exit(void)
{
	struct agent *me = control_me();
	if (!me)
		return;
	if (control.intervenes)
		intervene_ends(me);
	control_call(me, &control);
}

void control_prepare(void)
{
	points_prepare();
	/* What a short run touches of these lies together. */
	agents_prepare();
	control.agents = runtime_map(0, sizeof *control.agents * AREA_SLOTS);
	intervene_prepare();
	atexit(point_at_exit);
}

void control_start(void)
{
	control.options = runtime.head->control;
	control.schedule = runtime_schedule();
	control.still_most =
		control.options.still_points > STILL_MOST ? control.options.still_points : STILL_MOST;
	control.seed_state = runtime.options.seed * 0xd1342543de82ef95u + 1;
	control.next_deadline = control.timer_deadline = control.next_overdue = NEVER;
	runtime_touch_near();
	history_touch();
	control.pid = (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	points_start();
	unsnarl_self->patience = control.patience;
	turns_start();
	policy_start();
	intervene_start();
	control_created(unsnarl_self);
	struct agent *me = &control.agents[unsnarl_self->slot];
	agent_readies(me);
	me->tid = control.pid;
	me->id = pthread_self();
	me->has_id = true;
	control.turn->thread = me->number;
	control.current = me;
	token_start(me);
}

void control_before_fork(void)
{
	if (!runtime.controlled)
		return;
	control.forked = true;
	/* The child's number is given here, where the order is certain. */
	control.child = __atomic_fetch_add(&runtime.head->threads, 1, __ATOMIC_RELAXED);
	control_uncontrolled("fork: children run free");
}

/* The child runs free. */
void control_after_fork(void)
{
	if (!runtime.controlled)
		return;
	runtime.controlled = false;
	control.is_child = true;
	processors_after_fork();
	unsnarl_self->meets_open = false;
	unsnarl_self->number = control.child;
}
