/* Synchronisation and control flow that the runtime must know of: creation and
 * end of threads, jumps that leave a frame, and the calls around which random
 * delays are worth most. Every function does what libc's does. */
#include "loom/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
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

/* What a new thread begins with waits in its thread struct: the creator need not. */
static void *begin(void *argument)
{
	struct thread *self = argument;
	thread_adopt(self);
	jitter_at_call();
	return ((void *(*)(void *))self->routine)(self->argument);
}

INTERPOSE int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
			     void *argument)
{
	struct thread *thread = thread_new();
	if (!thread)
		return REAL(pthread_create)(id, attributes, routine, argument);
	thread->routine = (void *)routine;
	thread->argument = argument;
	int result = REAL(pthread_create)(id, attributes, begin, thread);
	if (result != 0)
		thread_discard(thread);
	return result;
}

static int begin_c11(void *argument)
{
	struct thread *self = argument;
	thread_adopt(self);
	jitter_at_call();
	return ((thrd_start_t)self->routine)(self->argument);
}

INTERPOSE int thrd_create(thrd_t *id, thrd_start_t routine, void *argument)
{
	struct thread *thread = thread_new();
	if (!thread)
		return REAL(thrd_create)(id, routine, argument);
	thread->routine = (void *)routine;
	thread->argument = argument;
	int result = REAL(thrd_create)(id, begin_c11, thread);
	if (result != thrd_success)
		thread_discard(thread);
	return result;
}

/* ---- jumps: a signal handler may jump out of the middle of the runtime ---- */

static void leave_frames(void)
{
	if (unsnarl_self != &unsnarl_nobody && unsnarl_self->busy)
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
