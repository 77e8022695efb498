/* Signal handlers under control. The kernel gives a signal to any of its threads, most of
 * which only wait for their turn. So every handler of the program is called by one of ours:
 * in the holder of the token it runs at once, for any other thread the signal is noted, and
 * delivered again, as it came, when that thread's turn has come. */
#include "loom/runtime/sync/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIGNALS 64
#define ARRIVALS 256u

static struct sigaction program_actions[SIGNALS + 1];
static uint64_t wrapped; /* signals whose handler is called by ours */

/* A signal that came to a thread without the token. */
static struct arrival {
	uint32_t state; /* enum arrival_state; changed by whoever the signal came to, then by the holder */
	struct agent *agent;
	int number;
	siginfo_t info;
} arrivals[ARRIVALS];
enum arrival_state { ARRIVAL_FREE, ARRIVAL_BEGUN, ARRIVAL_COME, ARRIVAL_TAKEN };

static uint64_t bit_of(int number)
{
	return 1ull << (number - 1);
}

/* Signals that a thread brings upon itself; nobody sends them. */
static bool is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGTRAP || number == SIGSYS || number == SIGABRT;
}

/* Room may run out when hundreds come at once: the kernel does not keep count of most signals either. */
static void note_arrival(struct agent *agent, int number, const siginfo_t *info)
{
	for (uint32_t i = 0; i < ARRIVALS; i++) {
		uint32_t free = ARRIVAL_FREE;
		if (!__atomic_compare_exchange_n(&arrivals[i].state, &free, ARRIVAL_BEGUN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		arrivals[i].agent = agent;
		arrivals[i].number = number;
		arrivals[i].info = *info;
		/* Release pairs with signals_take: the entry is whole. */
		__atomic_store_n(&arrivals[i].state, ARRIVAL_COME, __ATOMIC_RELEASE);
		break;
	}
	__atomic_store_n(&control.arrived, 1, __ATOMIC_RELEASE);
}

static void run_handler(int number, siginfo_t *info, void *context)
{
	struct sigaction action = program_actions[number];
	if (action.sa_flags & (int)SA_RESETHAND) {
		struct sigaction usual = { .sa_handler = SIG_DFL };
		wrapped &= ~bit_of(number);
		control.handlers &= ~bit_of(number);
		REAL(sigaction)(number, &usual, NULL);
	}
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* In the middle of whatever its thread stands at, which is the same afterwards. */
static void interrupt_with(struct agent *me, int number, siginfo_t *info, void *context)
{
	uint32_t sync = me->thread->sync;
	struct point point = {
		.site = me->site, .access = me->access, .address = me->address, .size = me->size
	};
	me->handled++;
	run_handler(number, info, context);
	me->thread->sync = sync;
	me->site = point.site;
	me->access = point.access;
	me->address = point.address;
	me->size = point.size;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct thread *self = unsnarl_self;
	struct agent *me = control.current;
	bool known = runtime.controlled && self != &unsnarl_nobody && self->controlled;
	if (!known || (is_fault(number) && info->si_code > 0)) {
		run_handler(number, info, context);
	} else if (me && me->thread == self && !me->inside && !self->held) {
		interrupt_with(me, number, info, context);
	} else {
		note_arrival(&control.agents[self->slot], number, info);
	}
}

static bool is_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* The calls below are made by libc as well, at any time. */
INTERPOSE int sigaction(int number, const struct sigaction *fresh, struct sigaction *old)
{
	bool ours = number > 0 && number <= SIGNALS;
	if (!ours || (!runtime.controlled && !(wrapped & bit_of(number))))
		return REAL(sigaction)(number, fresh, old);
	struct sigaction before = program_actions[number], action;
	bool was_wrapped = wrapped & bit_of(number);
	if (fresh && is_handler(fresh)) {
		struct agent *me = control_me();
		if (me)
			token_carry_no_more(me);
		program_actions[number] = *fresh;
		action = *fresh;
		action.sa_sigaction = on_signal;
		action.sa_flags = (action.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
	} else if (fresh) {
		action = *fresh;
	}
	int result = REAL(sigaction)(number, fresh ? &action : NULL, old);
	if (result != 0) {
		program_actions[number] = before;
		return result;
	}
	if (old && was_wrapped)
		*old = before;
	if (fresh) {
		wrapped = is_handler(fresh) ? wrapped | bit_of(number) : wrapped & ~bit_of(number);
		control.handlers = 0;
		for (int i = 1; i <= SIGNALS; i++)
			if (wrapped & bit_of(i) && !is_fault(i) && i != SIGPIPE)
				control.handlers |= bit_of(i);
	}
	return 0;
}

INTERPOSE sighandler_t signal(int number, sighandler_t handler)
{
	if (!runtime.controlled && !wrapped)
		return REAL(signal)(number, handler);
	struct sigaction fresh = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
	sigemptyset(&fresh.sa_mask);
	if (sigaction(number, &fresh, &old) != 0)
		return SIG_ERR;
	return old.sa_handler;
}

/* ---- taking and delivering ---- */

/* A handler interrupts every wait; those that go on afterwards ask again. */
static void interrupt(struct agent *agent, int number)
{
	agent->signals |= bit_of(number);
	if (agent->state == AGENT_BLOCKED)
		control_unblock(agent, WAIT_INTERRUPTED);
}

void signals_cancel(struct agent *agent)
{
	interrupt(agent, SIGNAL_CANCEL);
}

void signals_take(void)
{
	__atomic_store_n(&control.arrived, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < ARRIVALS; i++) {
		if (__atomic_load_n(&arrivals[i].state, __ATOMIC_ACQUIRE) != ARRIVAL_COME)
			continue;
		control_uncontrolled("signals from outside: come when they come");
		arrivals[i].state = ARRIVAL_TAKEN;
		interrupt(arrivals[i].agent, arrivals[i].number);
	}
}

/* As it came, with what came with it. */
static bool deliver_taken(struct agent *me, int number)
{
	bool some = false;
	for (uint32_t i = 0; i < ARRIVALS; i++) {
		struct arrival *arrival = &arrivals[i];
		if (arrival->state != ARRIVAL_TAKEN || arrival->agent != me || arrival->number != number)
			continue;
		siginfo_t info = arrival->info;
		__atomic_store_n(&arrival->state, ARRIVAL_FREE, __ATOMIC_RELEASE);
		raw_call(SYS_rt_tgsigqueueinfo, control.pid, me->tid, number, (long)&info, 0, 0);
		some = true;
	}
	return some;
}

void signals_deliver(struct agent *me)
{
	uint64_t pending = me->signals;
	me->signals = 0;
	me->restarts = true;
	me->inside = false; /* the handler's points count */
	if (pending & bit_of(SIGNAL_CANCEL)) {
		REAL(pthread_cancel)(pthread_self()); /* asynchronously: does not return */
		pending &= ~bit_of(SIGNAL_CANCEL);
	}
	for (int number = 1; number <= SIGNALS; number++) {
		if (!(pending & bit_of(number)))
			continue;
		if (wrapped & bit_of(number) && !(program_actions[number].sa_flags & SA_RESTART))
			me->restarts = false;
		if (!deliver_taken(me, number))
			raw_call(SYS_tgkill, control.pid, me->tid, number, 0, 0, 0);
	}
}

/* Does the thread keep the signal out? The kernel knows. */
static bool is_blocked(const struct agent *agent, int number)
{
	char path[64], text[4096];
	snprintf(path, sizeof path, "/proc/self/task/%d/status", agent->tid);
	long fd = raw_call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return true;
	long n = raw_call(SYS_read, fd, (long)text, sizeof text - 1, 0, 0, 0);
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	text[n > 0 ? n : 0] = '\0';
	const char *mask = strstr(text, "SigBlk:");
	return !mask || strtoull(mask + 7, NULL, 16) & bit_of(number);
}

bool signals_to_agent(struct agent *agent, int number)
{
	bool begun = agent->tid != 0;
	if (number < 1 || number > SIGNALS || !(wrapped & bit_of(number)) ||
	    (begun && is_blocked(agent, number)))
		return false;
	interrupt(agent, number);
	return true;
}

void signals_to_process(int number, siginfo_t *info)
{
	for (uint32_t slot = 1; slot < SLOT_GONE && wrapped & bit_of(number); slot++) {
		struct agent *agent = &control.agents[slot];
		if (!agent->thread)
			break;
		if (agent->state == AGENT_NONE || agent->state == AGENT_ENDED || !agent->tid ||
		    is_blocked(agent, number))
			continue;
		for (uint32_t i = 0; i < ARRIVALS; i++)
			if (arrivals[i].state == ARRIVAL_FREE) {
				arrivals[i] = (struct arrival){ ARRIVAL_TAKEN, agent, number, *info };
				break;
			}
		interrupt(agent, number);
		return;
	}
	/* Its usual action, or it waits until somebody lets it in. Only the first thread may send what looks like a
	 * signal of the kernel's or of kill. */
	if (raw_call(SYS_rt_sigqueueinfo, control.pid, number, (long)info, 0, 0, 0) < 0)
		raw_call(SYS_kill, control.pid, number, 0, 0, 0, 0);
}
