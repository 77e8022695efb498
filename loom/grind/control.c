/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Points at which the turn may change, threads that wait, and what tells that a
 * run goes in circles. As long as there is one thread nothing is a point. The
 * first process of a run that makes a second thread is the one that is controlled. */
#include "loom/grind/control.h"
#include "loom/grind/define.h"

#define POINT_NS 100u        /* virtual time that a point takes */
#define STREAK_READING 64u   /* known points in a row after which a thread only spins, */
#define STREAK_WRITING 2000u /* and when it also writes */
#define STILL_MOST 1000000u  /* points without any news: everybody spins for ever */
#define STILL_PATIENCE 1000u /* points between two sleepers that are woken for that */
#define DEMOTED_MOST 4096u   /* points for which a spinning thread lets others go first */
#define KNOWN_SITES 64u
#define PATIENCE 256u /* accesses without a point, after which one is a point: it may wait for others */

struct control control;

uint64_t control_below(uint64_t n)
{
	return (uint64_t)((unsigned __int128)grind_random() * n >> 64);
}

void control_uncontrolled(const char *what)
{
	char *text = grind.schedule->uncontrolled;
	SizeT used = VG_(strlen)(text), length = VG_(strlen)(what);

	if (!grind.controlled || used + length + 2 > AREA_UNCONTROLLED_BYTES || VG_(strstr)(text, what))
		return;
	VG_(memcpy)(text + used, what, length);
	text[used + length] = '\n';
}

void control_finish(uint32_t end)
{
	if (end == END_DEADLOCK || end == END_LOST_WAKEUP || end == END_LIVELOCK)
		define_hung();
	grind.schedule->end = end;
	VG_(exit)(CONTROL_STATUS);
}

/* ---- sets of agents ---- */

static void make_room(void)
{
	if (control.nagents < control.room)
		return;
	control.room = control.room ? 2 * control.room : 64;
	SizeT size = control.room * sizeof(struct agent *);

	control.ready = VG_(realloc)("grind.agents", control.ready, size);
	control.blocked = VG_(realloc)("grind.agents", control.blocked, size);
	control.candidates = VG_(realloc)("grind.agents", control.candidates, 2 * size);
}

static void leave(struct agent **list, uint32_t *n, const struct agent *agent)
{
	uint32_t at = 0;

	while (at < *n && list[at] != agent)
		at++;
	if (at == *n)
		return;
	for (--*n; at < *n; at++)
		list[at] = list[at + 1];
}

static void rise(struct agent *agent)
{
	if (agent->demoted)
		control.ndemoted--;
	agent->demoted = false;
}

/* The ready ones stand by number, those that wait in the order in which they came. */
static void readies(struct agent *agent)
{
	uint32_t at = control.nready++;

	for (; at && control.ready[at - 1]->thread->number > agent->thread->number; at--)
		control.ready[at] = control.ready[at - 1];
	control.ready[at] = agent;
	agent->state = AGENT_READY;
	control.review = true;
	control.still = 0;
}

static void leaves_ready(struct agent *agent)
{
	leave(control.ready, &control.nready, agent);
	rise(agent);
	control.review = true;
}

static void blocks(struct agent *agent)
{
	leaves_ready(agent);
	agent->state = AGENT_BLOCKED;
	control.blocked[control.nblocked++] = agent;
	control.ninputs += agent->wait == WAIT_INPUT;
	if (agent->deadline == NEVER)
		return;
	control.ntimed++;
	agent->eager = policy_eager(agent);
}

void control_unblock(struct agent *agent, enum wait_result result)
{
	uint64_t still = control.still;

	leave(control.blocked, &control.nblocked, agent);
	control.ninputs -= agent->wait == WAIT_INPUT;
	control.ntimed -= agent->deadline != NEVER;
	agent->result = result;
	readies(agent);
	if (result == WAIT_TIMED_OUT)
		control.still = still; /* time alone is no news */
}

void control_expire(struct agent *agent)
{
	if (agent->deadline > control.now)
		control.now = agent->deadline;
	control_unblock(agent, WAIT_TIMED_OUT);
}

static void expire_due(void)
{
	for (uint32_t i = 0; control.ntimed && i < control.nblocked;)
		if (control.blocked[i]->deadline <= control.now)
			control_unblock(control.blocked[i], WAIT_TIMED_OUT);
		else
			i++;
}

/* Nobody can run: time passes until the first sleeper wakes. */
static bool expire_first(void)
{
	struct agent *first = NULL;

	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->deadline != NEVER &&
		    (!first || control.blocked[i]->deadline < first->deadline))
			first = control.blocked[i];
	if (first)
		control_expire(first);
	return first != NULL;
}

/* ---- the turn ---- */

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

static void pass_point(struct agent *me)
{
	struct area_schedule *schedule = grind.schedule;

	control.turn->points++;
	me->passed++;
	control.budget -= control.budget > 0;
	control.now += POINT_NS;
	schedule->points++;
	if (!me->repeated && (control.nready > 1 || control.ntimed)) {
		control.contested++;
		schedule->contested++;
	}
	policy_passed(me);
	if (control.options.most_points && schedule->points > control.options.most_points)
		control_finish(END_LIVELOCK);
	if (control.options.slow_points && schedule->points > control.options.slow_points)
		control_finish(END_SLOW);
	if (++control.still >
	    (control.options.still_points > STILL_MOST ? control.options.still_points : STILL_MOST))
		stands_still();
}

/* Whom to run when the running thread has blocked or ended. */
static struct agent *next_after(struct agent *last, uint32_t end)
{
	expire_due();
	if (control.intervenes && !control.nready && !control.ntimed && !control.ninputs)
		intervene_lets_go();
	if (control.ninputs)
		inputs_poll(false);
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
		if (!(control.ninputs && inputs_poll(true)) && !expire_first() && !intervene_lets_go())
			control_stuck();
	}
}

/* The running thread stops here; returns when it is its turn again. */
static void give_turn(struct agent *me, struct agent *next, uint32_t end)
{
	turns_close(me, end);
	turns_open(next);
	if (next != me)
		lock_hand_over(next->thread);
}

/* ---- spinning ---- */

/* Does this point tell that the thread goes in circles? */
static void note_progress(struct agent *me)
{
	uint32_t place = me->site % KNOWN_SITES;
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
		rise(me);
		return;
	}
	me->streak++;
	if (me->streak < (me->wrote ? STREAK_WRITING : STREAK_READING) || control.nready < 2)
		return;
	uint64_t length = 16ull << (me->demotions < 8 ? me->demotions : 8);

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

static void arrive(struct agent *me)
{
	if (control.intervenes)
		intervene_arrives(me);
	expire_due();
	note_progress(me);
	if (control.intervenes && me->demoted && control.ndemoted >= control.nready)
		intervene_lets_go(); /* the others only spin: they may wait for somebody who is held */
	uint32_t end = me->yields || me->demoted ? TURN_YIELDED : TURN_PREEMPTED;

	/* A yield may return at once, unless its thread does nothing else. */
	if (me->yields && !me->demoted && grind_random() & 1)
		me->yields = false;
	struct agent *next = me;

	if (UNLIKELY(control.planned))
		next = plan_next(me, me, end);
	if (!next) /* the plan is over */
		next = me;
	if (!control.planned && (control.nready > 1 || control.ntimed))
		next = policy_next(me);
	me->yields = false;
	if (next != me)
		give_turn(me, next, end);
	if (control.intervenes)
		intervene(me);
	pass_point(me);
}

static bool is_alone(void)
{
	return control.nready + control.nblocked < 2;
}

void control_access(Addr address, SizeT size, uint32_t site, bool write)
{
	struct agent *me = grind.thread->agent;

	if (!me || is_alone())
		return;
	bool private = shadow_is_private(address, size);

	if (private && !points_always(site) &&
	    !(control.intervenes &&
	      (intervene_wants(site) || intervene_covers(grind.thread, address, size))) &&
	    ++me->patience < PATIENCE)
		return;
	me->patience = 0;
	me->site = site;
	me->access = write ? ACCESS_WRITE : ACCESS_READ;
	me->address = address;
	me->size = size;
	policy_weigh(me);
	arrive(me);
}

void control_wrote(void)
{
	struct agent *me = grind.thread->agent;

	if (!me || is_alone())
		return;
	me->access = ACCESS_WRITE;
	me->wrote = true;
	control.still = 0;
	policy_passed(me);
}

void control_call(uint32_t site, Addr object)
{
	struct agent *me = grind.thread->agent;

	if (!me)
		return;
	me->site = site;
	me->access = POINT_SYNC;
	me->address = object;
	me->size = 1;
	me->repeated = me->dull = false;
	if (!is_alone())
		arrive(me);
}

void control_yield(void)
{
	struct agent *me = grind.thread->agent;

	if (!me)
		return;
	me->yields = true;
	control_call(site_of_call(SITE_SYNC, "sched_yield"), 0);
}

/* ---- waiting ---- */

enum wait_result control_wait(struct agent *me, uint32_t kind, Addr object, uint64_t deadline)
{
	me->wait = kind;
	me->object = object;
	me->deadline = deadline;
	blocks(me);
	give_turn(me, next_after(me, TURN_BLOCKED), TURN_BLOCKED);
	me->wait = WAIT_NOTHING;
	me->deadline = NEVER;
	pass_point(me);
	return me->result;
}

bool is_at_futex(const struct agent *agent, Addr object)
{
	return agent->wait != WAIT_INPUT && agent->wait != WAIT_HELD && agent->object == object;
}

static struct agent *choose_waiter(Addr object)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < control.nblocked; i++)
		if (is_at_futex(control.blocked[i], object))
			control.candidates[n++] = control.blocked[i];
	if (n == 0)
		return NULL;
	if (n == 1)
		return control.candidates[0];
	struct agent *chosen = control.planned ? plan_wake(object) : NULL;

	if (!chosen)
		chosen = control.candidates[control.options.policy != POLICY_STAY ? control_below(n) : 0];
	turns_wake(chosen);
	return chosen;
}

void control_interrupt(struct thread *thread)
{
	struct agent *agent = thread->agent;

	if (grind.controlled && agent && agent->state == AGENT_BLOCKED)
		control_unblock(agent, WAIT_INTERRUPTED);
}

void control_wake(uint32_t kind, Addr object)
{
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];

		if (agent->wait == kind && agent->object == object)
			control_unblock(agent, WAIT_WOKEN);
		else
			i++;
	}
}

uint32_t control_wake_some(Addr object, uint32_t most)
{
	uint32_t woken = 0;

	if (!object)
		return 0;
	for (; woken < most; woken++) {
		struct agent *chosen = choose_waiter(object);

		if (!chosen)
			break;
		control_unblock(chosen, WAIT_WOKEN);
	}
	return woken;
}

/* ---- life ---- */

static void admit(struct thread *thread)
{
	struct agent *agent = VG_(calloc)("grind.agent", 1, sizeof *agent);

	make_room();
	control.nagents++;
	agent->thread = thread;
	agent->number = thread->number;
	agent->deadline = NEVER;
	thread->agent = agent;
	policy_new(agent);
	readies(agent);
}

/* The second thread of a process, or a wait that nothing but time could end: the first process of the run that
 * has one is controlled from here on. */
void control_engage(void)
{
	if (grind.controlled || control.over)
		return;
	if (__atomic_exchange_n(&grind.schedule->claimed, 1, __ATOMIC_ACQ_REL)) {
		control.over = true;
		return;
	}
	grind.controlled = true;
	control.notes = VG_(calloc)("grind.notes", AREA_PLACES, sizeof *control.notes);
	turns_start();
	policy_start();
	intervene_prepare();
	intervene_start();
	admit(grind.thread);
	control.turn->thread = grind.thread->number;
	control.current = grind.thread->agent;
	lock_set_token();
}

void control_start(void)
{
	control.options = grind.head->control;
	control.schedule = grind.schedule;
	if (control.options.nsites > AREA_POINT_SITES)
		control.options.nsites = AREA_POINT_SITES;
	/* Until somebody makes a second thread, the run is one turn of the first. */
	if (control.options.policy != POLICY_FREE && !grind.schedule->nturns)
		turns_start();
}

void control_created(struct thread *thread)
{
	if (!grind.observed || control.options.policy == POLICY_FREE || thread == grind.thread)
		return;
	control_engage();
	if (grind.controlled)
		admit(thread);
}

/* The first turn of a new thread. */
void control_begin(struct thread *thread)
{
	if (grind.controlled && thread->agent && thread->agent->passed == 0 &&
	    control.current == thread->agent)
		pass_point(thread->agent);
}

void control_ended(struct thread *thread)
{
	struct agent *me = thread->agent;

	if (!grind.controlled || !me || control.current != me)
		return;
	leaves_ready(me);
	me->state = AGENT_ENDED;
	me->site = 0;
	if (control.intervenes)
		intervene_ended(me);
	if (thread->clear_tid) {
		*(uint32_t *)thread->clear_tid = 0;
		control_wake_some(thread->clear_tid, UINT32_MAX);
	}
	if (control.nready + control.nblocked == 0) {
		turns_close(me, TURN_ENDED);
		return;
	}
	struct agent *next = next_after(me, TURN_ENDED);

	turns_close(me, TURN_ENDED);
	turns_open(next);
	if (thread->number)
		control.leaving = VG_(gettid)();
	lock_leave(next->thread);
}

void control_over(void)
{
	control.over = true;
	if (!grind.controlled)
		return;
	grind.controlled = false;
	lock_set_free();
}

void control_fork_child(void)
{
	grind.controlled = false;
	control.over = true;
}
