/* Who runs: the token, the points at which it may change hands, and waiting. A
 * thread without the token sleeps on a futex of its own; as long as the same
 * thread goes on, a point costs no system call and no atomic instruction. */
#include "loom/runtime/control.h"
#include "loom/runtime/interpose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POINT_NS 100u           /* virtual time that a point takes */
#define STREAK_READING 64u      /* known points in a row after which a thread only spins, */
#define STREAK_WRITING 2000u    /* and when it also writes */
#define STILL_MOST 1000000u     /* points without any news: everybody spins for ever */
#define STILL_PATIENCE 1000u    /* points between two sleepers that are woken for that */
#define DEMOTED_MOST 4096u      /* points for which a spinning thread lets others go first */
#define LEAVING_NS 200000000ull /* longest real wait for a thread that has ended */

#define WATCH_SECONDS 2

struct control control;

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

/* ---- sets of agents ---- */

static void agents_remove(struct agent **list, uint32_t *n, const struct agent *agent)
{
	for (uint32_t i = 0; i < *n; i++)
		if (list[i] == agent) {
			memmove(list + i, list + i + 1, (*n - i - 1) * sizeof *list);
			--*n;
			return;
		}
}

static void agent_readies(struct agent *agent)
{
	uint32_t at = control.nready++;
	for (; at && control.ready[at - 1]->number > agent->number; at--)
		control.ready[at] = control.ready[at - 1];
	control.ready[at] = agent;
	agent->state = AGENT_READY;
	control.review = true;
	control.still = 0;
}

static void agent_rises(struct agent *agent)
{
	if (agent->demoted)
		control.ndemoted--;
	agent->demoted = false;
}

static void agent_leaves_ready(struct agent *agent)
{
	agents_remove(control.ready, &control.nready, agent);
	agent_rises(agent);
	control.review = true;
}

static void agent_blocks(struct agent *agent)
{
	agent_leaves_ready(agent);
	agent->state = AGENT_BLOCKED;
	control.blocked[control.nblocked++] = agent;
	control.ninputs += agent->wait == WAIT_INPUT;
	if (agent->deadline == NEVER)
		return;
	control.ntimed++;
	if (agent->deadline < control.next_deadline)
		control.next_deadline = agent->deadline;
	agent->eager = policy_eager(agent);
}

void control_unblock(struct agent *agent, enum wait_result result)
{
	agents_remove(control.blocked, &control.nblocked, agent);
	control.ninputs -= agent->wait == WAIT_INPUT;
	control.ntimed -= agent->deadline != NEVER;
	agent->result = result;
	uint64_t still = control.still;
	agent_readies(agent);
	if (result == WAIT_TIMED_OUT)
		control.still = still; /* time alone is no news */
}

void control_expire(struct agent *agent)
{
	if (agent->deadline > control.now)
		control.now = agent->deadline;
	control_unblock(agent, WAIT_TIMED_OUT);
}

/* Those whose time has come are ready. */
static void expire_due(void)
{
	if (LIKELY(!control.ntimed || control.now < control.next_deadline))
		return;
	control.next_deadline = NEVER;
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		if (agent->deadline <= control.now) {
			control_unblock(agent, WAIT_TIMED_OUT);
			continue;
		}
		if (agent->deadline < control.next_deadline)
			control.next_deadline = agent->deadline;
		i++;
	}
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

/* ---- the token ---- */

/* A thread that has ended still runs libc's code for a moment, which frees memory: wait until it is gone,
 * or memory would be reused in another order in another run. */
static void await_leaving(void)
{
	int tid = control.leaving;
	control.leaving = 0;
	struct timespec start, now;
	raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&start, 0, 0, 0, 0);
	while (raw_call(SYS_tgkill, control.pid, tid, 0, 0, 0, 0) == 0) {
		raw_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
		int64_t passed = (now.tv_sec - start.tv_sec) * 1000000000ll + now.tv_nsec - start.tv_nsec;
		if (passed > (int64_t)LEAVING_NS) {
			control_uncontrolled("a thread that does not end after its last destructor");
			return;
		}
	}
}

static void await_token(struct agent *me)
{
	/* Acquire pairs with the release in hand_over: all that the last holder did. */
	uint64_t points = 0;
	while (!__atomic_load_n(&me->go, __ATOMIC_ACQUIRE))
		if (!raw_wait(&me->go, 0, WATCH_SECONDS))
			control_watch(&points);
	me->go = 0;
	if (UNLIKELY(control.leaving))
		await_leaving();
}

static void hand_over(struct agent *next)
{
	control.current = next;
	__atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
	raw_wake(&next->go);
}

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
	control.turn->points++;
	control.budget -= control.budget > 0;
	control.now += POINT_NS;
	uint64_t points = ++control.schedule->points;
	if (!me->repeated && (control.nready > 1 || control.ntimed)) {
		control.contested++;
		control.schedule->contested++;
	}
	policy_passed(me);
	if (UNLIKELY(control.options.most_points && points > control.options.most_points))
		control_finish(END_LIVELOCK);
	if (UNLIKELY(++control.still > STILL_MOST))
		stands_still();
}

/* Whom to run when the running thread has blocked or ended. */
static struct agent *next_after(struct agent *last, uint32_t end)
{
	expire_due();
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
		if (!(control.ninputs && blocking_poll(true)) && !expire_first())
			control_stuck();
	}
}

/* The running thread stops here; returns when it has the token again. */
static void give_token(struct agent *me, struct agent *next, uint32_t end)
{
	turns_close(me, end);
	turns_open(next);
	if (next == me)
		return;
	hand_over(next);
	await_token(me);
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

static void arrive(struct agent *me)
{
	me->inside = true;
	expire_due();
	note_progress(me);
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

/* Has no other thread left a trace at the place so far? */
static bool looks_private(const struct thread *self, uint64_t address, size_t size)
{
	return granule_is_private(self, address, size);
}

void control_access(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access)
{
	struct agent *me = control_enter();
	/* Parts of one access have one word. */
	if (!me || word == me->word)
		return;
	bool second_half = access == ACCESS_WRITE && me->access == ACCESS_READ &&
			   WORD_SITE(word) == me->site && address == me->address;
	me->word = word;
	me->site = WORD_SITE(word);
	me->access = access;
	me->address = address;
	me->size = size;
	if (second_half) { /* the write of an atomic update, which has happened */
		me->wrote = true;
		control.still = 0;
		policy_passed(me);
		return;
	}
	if (control.nready > 1 || control.ntimed)
		policy_weigh(me, looks_private(self, address, size));
	arrive(me);
}

void control_note_site(struct agent *me, const volatile void *object)
{
	me->site = me->thread->sync;
	me->access = POINT_SYNC;
	me->address = (uint64_t)object;
	me->size = 1;
	me->repeated = me->dull = false;
}

void control_call(struct agent *me, const volatile void *object)
{
	int saved = errno;
	control_note_site(me, object);
	arrive(me);
	errno = saved;
}

/* ---- waiting ---- */

enum wait_result control_wait(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline)
{
	int saved = errno;
	me->inside = true;
	me->wait = kind;
	me->object = object;
	me->deadline = deadline;
	me->queued = control.waits++;
	agent_blocks(me);
	give_token(me, next_after(me, TURN_BLOCKED), TURN_BLOCKED);
	me->wait = WAIT_NOTHING;
	pass_point(me);
	me->inside = false;
	enum wait_result result = me->result;
	if (UNLIKELY(me->signals))
		signals_deliver(me);
	errno = saved;
	return result;
}

void control_wake(uint32_t kind, uint64_t object)
{
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		if (agent->wait == kind && agent->object == object)
			control_unblock(agent, WAIT_WOKEN);
		else
			i++;
	}
}

void control_retract(uint32_t kind, uint64_t object)
{
	for (uint32_t i = control.nready; i-- > 0;) {
		struct agent *agent = control.ready[i];
		if (agent->wait == kind && agent->object == object && agent != control.current &&
		    agent->result == WAIT_WOKEN)
			agent_blocks(agent);
	}
}

bool control_wake_one(uint32_t kind, uint64_t object)
{
	static struct agent *waiters[AREA_SLOTS]; /* the stack may be small */
	uint32_t n = 0;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->wait == kind && control.blocked[i]->object == object)
			waiters[n++] = control.blocked[i];
	if (n == 0)
		return false;
	struct agent *chosen = NULL;
	if (n > 1 && control.planned)
		chosen = plan_wake(kind, object);
	if (!chosen)
		chosen = waiters[n > 1 && control.options.policy != POLICY_STAY ? control_below(n) : 0];
	if (n > 1)
		turns_wake(chosen);
	control_unblock(chosen, WAIT_WOKEN);
	return true;
}

/* ---- life of threads ---- */

void control_created(struct thread *thread)
{
	struct agent *agent = &control.agents[thread->slot];
	*agent = (struct agent){ .thread = thread,
				 .number = thread->number,
				 .deadline = NEVER,
				 .stack_low = control.stack_low,
				 .stack_size = control.stack_size };
	thread->controlled = 1;
	policy_new(agent);
	agent_readies(agent);
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
}

void control_discarded(struct thread *thread)
{
	struct agent *agent = &control.agents[thread->slot];
	agent_leaves_ready(agent);
	agent->state = AGENT_NONE;
}

void control_begin(struct thread *thread)
{
	struct agent *me = &control.agents[thread->slot];
	await_token(me);
	me->tid = (int)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	pass_point(me);
}

void control_ended(struct thread *thread)
{
	struct agent *me = &control.agents[thread->slot];
	if (control.current != me)
		return;
	me->inside = true;
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
	hand_over(next);
}

/* ---- start ---- */

/* The other threads may still do much before the last one has left: the end of main is a point, too. */
static void point_at_exit(void)
{
	struct agent *me = control_enter();
	if (me)
		control_call(me, &control);
}

void control_start(void)
{
	control.options = runtime.head->control;
	control.schedule = (struct area_schedule *)runtime_map_area(AREA_SCHEDULE_OFFSET, AREA_SCHEDULE_SIZE);
	control.agents = runtime_map(0, sizeof *control.agents * AREA_SLOTS);
	control.seed_state = runtime.options.seed * 0xd1342543de82ef95u + 1;
	control.next_deadline = NEVER;
	control.pid = (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	interpose_resolve();
	turns_start();
	policy_start();
	control_created(unsnarl_self);
	struct agent *me = &control.agents[unsnarl_self->slot];
	me->tid = control.pid;
	me->id = pthread_self();
	me->has_id = true;
	control.turn->thread = me->number;
	control.current = me;
	atexit(point_at_exit);
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
