/* Signals that the program sends to itself, under control: a thread gets them when
 * its turn comes, so that a handler runs at the same point in every run. And what
 * cannot be controlled, named: timers and waiting for signals from outside. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Waits that a handler interrupts. Condition variables may wake up for nothing. */
static bool ends_by_signal(uint32_t wait)
{
	return wait == WAIT_SLEEP || wait == WAIT_SEMAPHORE || wait == WAIT_INPUT || wait == WAIT_ADDRESS ||
	       wait == WAIT_CONDITION;
}

void signals_deliver(struct agent *me)
{
	uint64_t pending = me->signals;
	me->signals = 0;
	me->restarts = true;
	me->inside = false; /* the handler's points count */
	for (int number = 1; number <= 64; number++) {
		if (!(pending >> (number - 1) & 1))
			continue;
		struct sigaction action;
		if (sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_RESTART))
			me->restarts = false;
		raw_call(SYS_tgkill, control.pid, me->tid, number, 0, 0, 0);
	}
}

/* Threads in sigwait look again. */
static void wake_sigwaiters(void)
{
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		if (agent->wait == WAIT_INPUT && agent->takes_signals)
			control_unblock(agent, WAIT_WOKEN);
		else
			i++;
	}
}

static bool is_ignored(int number)
{
	struct sigaction action;
	if (sigaction(number, NULL, &action) != 0 || action.sa_flags & SA_SIGINFO)
		return false;
	return action.sa_handler == SIG_IGN;
}

INTERPOSE int pthread_kill(pthread_t id, int number)
{
	struct agent *me = control_me();
	struct agent *other = me ? agent_of(id) : NULL;
	if (me)
		control_call(me, NULL);
	if (!other || other == me || number < 1 || number > 64 || other->state == AGENT_ENDED) {
		int result = REAL(pthread_kill)(id, number);
		if (me)
			wake_sigwaiters();
		return result;
	}
	if (other->takes_signals) {
		int result = REAL(pthread_kill)(id, number);
		wake_sigwaiters();
		return result;
	}
	if (is_ignored(number))
		return 0;
	other->signals |= 1ull << (number - 1);
	if (other->state == AGENT_BLOCKED && ends_by_signal(other->wait))
		control_unblock(other, WAIT_INTERRUPTED);
	return 0;
}

INTERPOSE int raise(int number)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, NULL);
	int result = REAL(raise)(number);
	if (me)
		wake_sigwaiters();
	return result;
}

/* A signal to the whole process goes to the sender, if it takes it. */
INTERPOSE int kill(pid_t pid, int number)
{
	struct agent *me = control_me();
	if (!me || pid != control.pid || number == 0)
		return REAL(kill)(pid, number);
	control_call(me, NULL);
	sigset_t blocked;
	sigemptyset(&blocked);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	int result = sigismember(&blocked, number) == 0 ? REAL(raise)(number) : REAL(kill)(pid, number);
	wake_sigwaiters();
	return result;
}

/* ---- waiting for signals ---- */

static int signal_wait(struct agent *me, const sigset_t *set, siginfo_t *info, uint64_t deadline)
{
	static const struct timespec now;
	control_call(me, NULL);
	cancel_point(me);
	me->takes_signals = true;
	int result;
	while ((result = REAL(sigtimedwait)(set, info, &now)) < 0 && errno == EAGAIN) {
		enum wait_result end =
			deadline <= control.now ? WAIT_TIMED_OUT : control_wait(me, WAIT_INPUT, 0, deadline);
		if (end != WAIT_WOKEN) {
			errno = end == WAIT_TIMED_OUT ? EAGAIN : EINTR;
			break;
		}
	}
	me->takes_signals = false;
	return result;
}

INTERPOSE int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	struct agent *me = control_me();
	return me ? signal_wait(me, set, info, NEVER) : REAL(sigwaitinfo)(set, info);
}

INTERPOSE int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(sigtimedwait)(set, info, time);
	uint64_t deadline = NEVER;
	if (time)
		deadline = control.now + (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
	return signal_wait(me, set, info, deadline);
}

INTERPOSE int sigwait(const sigset_t *set, int *number)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(sigwait)(set, number);
	int result;
	while ((result = signal_wait(me, set, NULL, NEVER)) < 0 && errno == EINTR)
		;
	if (result < 0)
		return errno;
	*number = result;
	return 0;
}

INTERPOSE int pause(void)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pause)();
	control_call(me, NULL);
	control_wait(me, WAIT_INPUT, 0, NEVER);
	cancel_point(me);
	errno = EINTR;
	return -1;
}

/* ---- timers come in real time ---- */

INTERPOSE unsigned alarm(unsigned seconds)
{
	if (seconds && control_me())
		control_uncontrolled("alarm: comes in real time");
	return REAL(alarm)(seconds);
}

INTERPOSE int setitimer(__itimer_which_t which, const struct itimerval *fresh, struct itimerval *old)
{
	if (control_me())
		control_uncontrolled("setitimer: comes in real time");
	return REAL(setitimer)(which, fresh, old);
}

INTERPOSE int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	if (control_me())
		control_uncontrolled("timer_create: comes in real time");
	return REAL(timer_create)(clock, event, timer);
}

/* ---- stdio's locks: who holds one is not interrupted, since others would wait for it in reality ---- */

INTERPOSE void flockfile(FILE *file)
{
	REAL(flockfile)(file);
	if (control_me())
		control.pinned++;
}

INTERPOSE int ftrylockfile(FILE *file)
{
	int result = REAL(ftrylockfile)(file);
	if (result == 0 && control_me())
		control.pinned++;
	return result;
}

INTERPOSE void funlockfile(FILE *file)
{
	if (control_me() && control.pinned)
		control.pinned--;
	REAL(funlockfile)(file);
}
