/* Signals that the program sends to itself, under control: a thread gets them when
 * its turn comes, so that a handler runs at the same point in every run. And
 * waiting for signals. */
#include "loom/runtime/sync/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

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

INTERPOSE int pthread_kill(pthread_t id, int number)
{
	struct agent *me = control_me();
	struct agent *other = me ? agent_of(id) : NULL;
	if (me)
		control_call(me, NULL);
	if (other && other != me && other->state != AGENT_ENDED && !other->takes_signals &&
	    signals_to_agent(other, number))
		return 0;
	int result = REAL(pthread_kill)(id, number);
	if (me)
		wake_sigwaiters();
	return result;
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

/* A signal to the whole process goes where the kernel would give it: to the first thread that lets it in. */
INTERPOSE int kill(pid_t pid, int number)
{
	struct agent *me = control_me();
	if (!me || pid != control.pid || number < 1 || number > 64)
		return REAL(kill)(pid, number);
	control_call(me, NULL);
	siginfo_t info = { .si_signo = number, .si_code = SI_USER };
	info.si_pid = pid;
	info.si_uid = getuid();
	signals_to_process(number, &info);
	if (me->signals)
		signals_deliver(me);
	wake_sigwaiters();
	return 0;
}

INTERPOSE int sigqueue(pid_t pid, int number, const union sigval value)
{
	struct agent *me = control_me();
	if (!me || pid != control.pid || number < 1 || number > 64)
		return REAL(sigqueue)(pid, number, value);
	control_call(me, NULL);
	siginfo_t info = { .si_signo = number, .si_code = SI_QUEUE };
	info.si_pid = pid;
	info.si_uid = getuid();
	info.si_value = value;
	signals_to_process(number, &info);
	if (me->signals)
		signals_deliver(me);
	wake_sigwaiters();
	return 0;
}

/* ---- waiting for signals ---- */

/* Is one of those it waits for there? Of those that are for this thread alone wake_sigwaiters knows. */
static bool signal_look(struct agent *agent)
{
	const sigset_t *set = agent->looked;
	sigset_t pending;
	if (sigpending(&pending) != 0)
		return false;
	for (int number = 1; number <= 64; number++)
		if (sigismember(&pending, number) == 1 && sigismember(set, number) == 1)
			return true;
	return false;
}

static int signal_wait(struct agent *me, const sigset_t *set, siginfo_t *info, uint64_t deadline)
{
	static const struct timespec now;
	control_call(me, NULL);
	cancel_point(me);
	me->takes_signals = true;
	int result;
	while ((result = REAL(sigtimedwait)(set, info, &now)) < 0 && errno == EAGAIN) {
		me->look = signal_look;
		me->looked = set;
		me->foreign = true;
		enum wait_result end =
			deadline <= time_of(me) ? WAIT_TIMED_OUT : control_wait(me, WAIT_INPUT, 0, deadline);
		if (end != WAIT_WOKEN) {
			errno = end == WAIT_TIMED_OUT ? EAGAIN : EINTR;
			break;
		}
	}
	me->takes_signals = false;
	me->look = NULL;
	me->foreign = false;
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
		deadline = time_of(me) + (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
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

/* Until a handler has run. */
static void handler_wait(struct agent *me, uint64_t before)
{
	while (me->handled == before) {
		me->foreign = true;
		control_wait(me, WAIT_INPUT, 0, NEVER);
		cancel_point(me);
	}
	errno = EINTR;
}

INTERPOSE int pause(void)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pause)();
	control_call(me, NULL);
	cancel_point(me);
	handler_wait(me, me->handled);
	return -1;
}

INTERPOSE int sigsuspend(const sigset_t *mask)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(sigsuspend)(mask);
	sigset_t before;
	control_call(me, NULL);
	cancel_point(me);
	token_carry_no_more(me);
	uint64_t handled = me->handled;
	REAL(pthread_sigmask)(SIG_SETMASK, mask, &before); /* what was kept out comes here */
	handler_wait(me, handled);
	REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	errno = EINTR;
	return -1;
}

/* ---- stdio's locks: who holds one is not interrupted, since others would wait for it in reality ---- */

INTERPOSE void flockfile(FILE *file)
{
	struct agent *me = control_me();
	if (!me) {
		REAL(flockfile)(file);
		return;
	}
	/* Its holder may have come to wait for something. */
	while (REAL(ftrylockfile)(file) != 0)
		control_wait(me, WAIT_INPUT, (uint64_t)file, NEVER);
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
	struct agent *me = control_me();
	if (me && control.pinned)
		control.pinned--;
	REAL(funlockfile)(file);
	if (me)
		control_wake(WAIT_INPUT, (uint64_t)file);
}
