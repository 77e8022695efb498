/* Synchronisation and control flow that the runtime must know of: creation and
 * end of threads, jumps that leave a frame, and the calls around which random
 * delays are worth most. Every function does what libc's does. */
#include "loom/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <threads.h>

#define INTERPOSE EXPORT __attribute__((weak))

/* Looks the real function up once. Relaxed: every thread finds the same address. */
#define REAL(name)                                                        \
	({                                                                \
		static void *found;                                       \
		void *real = __atomic_load_n(&found, __ATOMIC_RELAXED);   \
		if (UNLIKELY(!real)) {                                    \
			real = dlsym(RTLD_NEXT, #name);                   \
			__atomic_store_n(&found, real, __ATOMIC_RELAXED); \
		}                                                         \
		(__typeof__(&name))real;                                  \
	})

/* ---- threads ---- */

/* What a new thread begins with waits in its thread struct: the creator need not. It
 * starts with signals blocked, so that no handler runs before the thread is known. */
static void settle(struct thread *self)
{
	thread_adopt(self);
	if (self->restores_mask)
		pthread_sigmask(SIG_SETMASK, &self->mask, NULL);
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
static struct thread *announce_thread(void *routine, void *argument, bool own_mask, sigset_t *old)
{
	struct thread *thread = thread_new();
	if (!thread)
		return NULL;
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
	thread->routine = routine;
	thread->argument = argument;
	thread->mask = *old;
	thread->restores_mask = !own_mask;
	return thread;
}

static void announced(struct thread *thread, bool created, const sigset_t *old)
{
	if (!created)
		thread_discard(thread);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

INTERPOSE int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
			     void *argument)
{
	sigset_t old, given;
	bool own_mask = attributes && pthread_attr_getsigmask_np(attributes, &given) == 0;
	struct thread *thread = announce_thread((void *)routine, argument, own_mask, &old);
	if (!thread)
		return REAL(pthread_create)(id, attributes, routine, argument);
	int result = REAL(pthread_create)(id, attributes, begin, thread);
	announced(thread, result == 0, &old);
	return result;
}

INTERPOSE int thrd_create(thrd_t *id, thrd_start_t routine, void *argument)
{
	sigset_t old;
	struct thread *thread = announce_thread((void *)routine, argument, false, &old);
	if (!thread)
		return REAL(thrd_create)(id, routine, argument);
	int result = REAL(thrd_create)(id, begin_c11, thread);
	announced(thread, result == thrd_success, &old);
	return result;
}

/* ---- jumps: a signal handler may jump out of the middle of the runtime ---- */

static void leave_frames(void)
{
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

/* ---- calls worth a delay ---- */

#define DELAYED(type, name, parameters, arguments) \
	INTERPOSE type name parameters             \
	{                                          \
		jitter_at_call();                  \
		return REAL(name) arguments;       \
	}

DELAYED(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
DELAYED(int, pthread_mutex_trylock, (pthread_mutex_t * m), (m))
DELAYED(int, pthread_spin_lock, (pthread_spinlock_t * l), (l))
DELAYED(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
DELAYED(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
DELAYED(int, pthread_cond_signal, (pthread_cond_t * c), (c))
DELAYED(int, pthread_cond_broadcast, (pthread_cond_t * c), (c))
DELAYED(int, pthread_barrier_wait, (pthread_barrier_t * b), (b))
DELAYED(int, pthread_join, (pthread_t t, void **r), (t, r))
DELAYED(int, sem_wait, (sem_t * s), (s))
DELAYED(int, sem_post, (sem_t * s), (s))
DELAYED(int, mtx_lock, (mtx_t * m), (m))

/* After the unlock: the others' chance. */
#define DELAYED_AFTER(name, type)                \
	INTERPOSE int name(type *object)         \
	{                                        \
		int result = REAL(name)(object); \
		jitter_at_call();                \
		return result;                   \
	}

DELAYED_AFTER(pthread_mutex_unlock, pthread_mutex_t)
DELAYED_AFTER(pthread_rwlock_unlock, pthread_rwlock_t)
DELAYED_AFTER(mtx_unlock, mtx_t)
