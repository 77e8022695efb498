/* The points at which the token may change hands, and what tells that a run goes in
 * circles. As long as the same thread goes on, a point costs no system call and no
 * atomic instruction. */
#include "loom/runtime/control/control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POINT_NS 100u        /* virtual time that a point takes */
#define STREAK_READING 64u   /* known points in a row after which a thread only spins, */
#define STREAK_WRITING 2000u /* and when it also writes */
#define LEAN_POINTS 8192u    /* a run that lasts longer is a long one */
#define STILL_MOST 1000000u  /* points without any news: everybody spins for ever */
#define STILL_PATIENCE 1000u /* points between two sleepers that are woken for that */
#define DEMOTED_MOST 4096u   /* points for which a spinning thread lets others go first */

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

/* ---- the token ---- */

/* Nothing new for long. Sleepers may change that, so their time comes now; if it does not help, nothing will. */
static void stands_still(void)
{
	if (control.ninputs)
		return;
	if (!control.ntimed || control.still > 2 * STILL_MOST)
		control_finish(END_LIVELOCK);
	if (control.still % STILL_PATIENCE == 0)
		expire_first();
}

void pass_point(struct agent *me)
{
	control.turn->points++;
	me->passed++;
	control.budget -= control.budget > 0;
	control.now += POINT_NS;
	uint64_t points = ++control.schedule->points;
	if (!me->repeated && (control.nready > 1 || control.ntimed)) {
		control.contested++;
		control.schedule->contested++;
	}
	policy_passed(me);
	if (UNLIKELY(points == LEAN_POINTS)) /* the caches of its threads are worth their pages */
		runtime.lean = false;
	if (UNLIKELY(control.options.most_points && points > control.options.most_points))
		control_finish(END_LIVELOCK);
	if (UNLIKELY(++control.still > STILL_MOST))
		stands_still();
}

struct agent *next_after(struct agent *last, uint32_t end)
{
	expire_due();
	if (UNLIKELY(control.intervenes && !control.nready && !control.ntimed && !control.ninputs))
		intervene_lets_go();
	if (control.ninputs)
		blocking_poll(false);
	if (control.planned) {
		struct agent *next = plan_next(NULL, last, end);
		if (next)
			return next;
	}
	for (;;) {
		struct agent *next = policy_next(NULL);
		if (next)
			return next;
		/* Input from outside may come before the first sleeper wakes. */
		if (!(control.ninputs && blocking_poll(true)) && !expire_first() && !intervene_lets_go())
			control_stuck();
	}
}

void give_token(struct agent *me, struct agent *next, uint32_t end)
{
	turns_close(me, end);
	turns_open(next);
	if (next == me)
		return;
	token_give(me, next);
}

/* ---- spinning ---- */

/* Does this point tell that the thread goes in circles? Looks only at where it stands: tables are
 * indexed by site, since addresses differ from run to run. */
static void note_progress(struct agent *me)
{
	uint32_t place = me->site % SPIN_SITES;
	bool news = me->known[place].site != me->site || me->known[place].address != me->address;
	if (me->access == ACCESS_WRITE) {
		me->wrote = true;
		control.still = 0;
	}
	if (news) {
		me->known[place].site = me->site;
		me->known[place].address = me->address;
		me->streak = 0;
		me->demotions = 0;
		me->wrote = false;
		control.still = 0;
		agent_rises(me);
		return;
	}
	me->streak++;
	if (me->streak < (me->wrote ? STREAK_WRITING : STREAK_READING) || control.nready < 2)
		return;
	uint32_t shift = me->demotions < 8 ? me->demotions : 8;
	uint64_t length = 16ull << shift;
	me->demotions++;
	me->streak = STREAK_READING / 2;
	me->demoted_until = control.contested + (length < DEMOTED_MOST ? length : DEMOTED_MOST);
	if (!me->demoted)
		control.ndemoted++;
	me->demoted = true;
	control.review = true;
	policy_demoted(me);
}

/* ---- points ---- */

void point_pass(struct agent *me, struct point point)
{
	if (UNLIKELY(control.intervenes))
		intervene_arrives(me);
	me->site = point.site;
	me->access = point.access;
	me->address = point.address;
	me->size = point.size;
	me->inside = true;
	expire_due();
	note_progress(me);
	if (UNLIKELY(control.intervenes && me->demoted && control.ndemoted >= control.nready))
		intervene_lets_go(); /* the others only spin: they may wait for somebody who is held */
	uint32_t end = me->yields || me->demoted ? TURN_YIELDED : TURN_PREEMPTED;
	/* A yield may return at once, unless its thread does nothing else. */
	if (me->yields && !me->demoted && control_random() & 1)
		me->yields = false;
	struct agent *next = me;
	if (UNLIKELY(control.planned))
		next = plan_next(me, me, end);
	if (!next) /* the plan is over */
		next = me;
	if (!control.planned && !control.pinned && (control.nready > 1 || control.ntimed))
		next = policy_next(me);
	me->yields = false;
	if (next != me)
		give_token(me, next, end);
	if (UNLIKELY(control.intervenes))
		intervene(me);
	pass_point(me);
	me->inside = false;
	if (UNLIKELY(me->signals))
		signals_deliver(me);
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

/* ---- start ---- */

/* The other threads may still do much before the last one has left: the end of main is a point, too. */
static void point_at_exit(void)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, &control);
}

void control_prepare(void)
{
	points_prepare();
	/* What a short run touches of these lies together. */
	agents_prepare();
	control.agents = runtime_map(0, sizeof *control.agents * AREA_SLOTS);
	token_prepare();
	intervene_prepare();
	atexit(point_at_exit);
}

void control_start(void)
{
	control.options = runtime.head->control;
	control.schedule = runtime_schedule();
	control.seed_state = runtime.options.seed * 0xd1342543de82ef95u + 1;
	control.next_deadline = NEVER;
	runtime_touch_near();
	history_touch();
	control.pid = (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	points_start();
	turns_start();
	policy_start();
	intervene_start();
	control_created(unsnarl_self);
	struct agent *me = &control.agents[unsnarl_self->slot];
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
	unsnarl_self->number = control.child;
}
