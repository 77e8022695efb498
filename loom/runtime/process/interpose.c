/* Synchronisation and control flow that the runtime must know of: creation and
 * end of threads, and jumps that leave a frame. Every function does what libc's does. */
#include "loom/runtime/process/process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <threads.h>

/* ---- threads ---- */

/* What a new thread begins with waits in its thread struct: the creator need not. It
 * starts with signals blocked, so that no handler runs before the thread is known. */
static void settle(struct thread *self)
{
	if (self->controlled)
		control_begin(self);
	thread_adopt(self);
	if (self->restores_mask)
		REAL(pthread_sigmask)(SIG_SETMASK, &self->mask, NULL);
	jitter_at_call();
}

static void *begin(void *argument)
{
	struct thread *self = argument;
	settle(self);
	return ((void *(*)(void *))self->routine)(self->argument);
}

static int begin_c11(void *argument)
{
	struct thread *self = argument;
	settle(self);
	return ((thrd_start_t)self->routine)(self->argument);
}

/* Announces a thread; signals stay blocked in the creator until announced() is done. */
static struct thread *announce_thread(void *routine, void *argument, bool own_mask, sigset_t *old,
				      struct agent *me)
{
	struct thread *thread = thread_new();
	if (!thread)
		return NULL;
	sigset_t all;
	sigfillset(&all);
	REAL(pthread_sigmask)(SIG_SETMASK, &all, old);
	thread->routine = routine;
	thread->argument = argument;
	thread->mask = *old;
	thread->restores_mask = !own_mask;
	if (me)
		control_created(thread);
	return thread;
}

static void announced(struct thread *thread, bool created, const sigset_t *old, struct agent *me)
{
	if (!created) {
		if (me)
			control_discarded(thread);
		thread_discard(thread);
	}
	REAL(pthread_sigmask)(SIG_SETMASK, old, NULL);
}

INTERPOSE int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
			     void *argument)
{
	sigset_t old, given;
	runtime_serve(); /* threads do not survive a fork */
	struct agent *me = control_me();
	if (me)
		create_point(me, attributes);
	bool own_mask = attributes && pthread_attr_getsigmask_np(attributes, &given) == 0;
	if (me && own_mask)
		token_carry_no_more(me);
	struct thread *thread = announce_thread((void *)routine, argument, own_mask, &old, me);
	if (!thread) {
		create_done(me, NULL, 0, NULL);
		return REAL(pthread_create)(id, attributes, routine, argument);
	}
	int result = REAL(pthread_create)(id, attributes, begin, thread);
	announced(thread, result == 0, &old, me);
	create_done(me, result == 0 ? thread : NULL, result == 0 ? *id : 0, attributes);
	return result;
}

INTERPOSE int thrd_create(thrd_t *id, thrd_start_t routine, void *argument)
{
	sigset_t old;
	runtime_serve();
	struct agent *me = control_me();
	if (me)
		create_point(me, NULL);
	struct thread *thread = announce_thread((void *)routine, argument, false, &old, me);
	if (!thread) {
		create_done(me, NULL, 0, NULL);
		return REAL(thrd_create)(id, routine, argument);
	}
	int result = REAL(thrd_create)(id, begin_c11, thread);
	announced(thread, result == thrd_success, &old, me);
	create_done(me, result == thrd_success ? thread : NULL, result == thrd_success ? *id : 0, NULL);
	return result;
}

/* ---- jumps: a signal handler may jump out of the middle of the runtime ---- */

static void leave_frames(void)
{
	struct agent *me = control_me();
	if (me)
		me->stream = NULL;
	if (unsnarl_self != &unsnarl_nobody)
		thread_leave_runtime(unsnarl_self);
}

#define JUMP(name, type)                                                           \
	INTERPOSE __attribute__((noreturn)) void name(type environment, int value) \
	{                                                                          \
		leave_frames();                                                    \
		REAL(name)(environment, value);                                    \
		__builtin_unreachable();                                           \
	}

JUMP(longjmp, jmp_buf)
JUMP(_longjmp, jmp_buf)
JUMP(siglongjmp, sigjmp_buf)

extern void __longjmp_chk(jmp_buf environment, int value) __attribute__((noreturn));
JUMP(__longjmp_chk, jmp_buf)

void interpose_resolve(void)
{
	static bool done;
	if (done)
		return;
	done = true;
	for (struct real *entry = __start_unsnarl_reals; entry < __stop_unsnarl_reals; entry++)
		if (!entry->found)
			entry->found = dlsym(RTLD_NEXT, entry->name);
}
