/* Calls about what the kernel keeps for each of its threads: masks of signals,
 * handlers and their stacks, numbers, names. A program that makes one has all its
 * threads on their own kernel threads from then on (token.c). */
#include "loom/runtime/control/control.h"
#include "loom/runtime/interpose.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

/* These are called by the runtime and by libc as well, at any time. */
static void needs_own_thread(void)
{
	struct agent *me = UNLIKELY(runtime.controlled) && control.carries ? control_enter() : NULL;
	if (me)
		token_carry_no_more(me);
}

INTERPOSE int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	if (set)
		needs_own_thread();
	return REAL(pthread_sigmask)(how, set, old);
}

INTERPOSE int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	if (set)
		needs_own_thread();
	return REAL(sigprocmask)(how, set, old);
}

INTERPOSE int sigaltstack(const stack_t *stack, stack_t *old)
{
	needs_own_thread();
	return REAL(sigaltstack)(stack, old);
}

/* What a program makes of the numbers that the kernel gives out cannot be the same in each run. */
static void note_number(void)
{
	if (UNLIKELY(runtime.controlled) && control_enter())
		control_uncontrolled("process numbers: others in each run");
}

INTERPOSE pid_t gettid(void)
{
	needs_own_thread();
	note_number();
	return REAL(gettid)();
}

INTERPOSE pid_t getpid(void)
{
	note_number();
	return REAL(getpid)();
}

INTERPOSE pid_t getppid(void)
{
	note_number();
	return REAL(getppid)();
}

INTERPOSE int prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	needs_own_thread();
	return REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

INTERPOSE int pthread_setname_np(pthread_t id, const char *name)
{
	needs_own_thread();
	return REAL(pthread_setname_np)(id, name);
}

INTERPOSE int unshare(int flags)
{
	needs_own_thread();
	return REAL(unshare)(flags);
}
