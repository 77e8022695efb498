/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loaded into the program by Valgrind, which sends calls of synchronisation
 * functions here. Each tells the tool that it begins, calls the real function,
 * and tells the tool how that ended. Names are coded as Valgrind asks for:
 * I_WRAP_SONAME_FNNAME_ZZ, 'Zu' for '_', 'Za' for '*', 'Zd' for '.', 'ZAZa' for '@*'.
 *
 * Valgrind finds the functions by their symbols, so each has to be written out; a
 * macro writes the frame around what differs. */
#include "loom/grind/requests.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "model/library_state.h"

typedef unsigned long word;

/* Of a wait: 1 when it is to end at once. Of a signal: how many more are to be given. */
static word begins(enum sync_call call, const volatile void *object, const volatile void *second,
		   const char *name)
{
	return VALGRIND_DO_CLIENT_REQUEST_EXPR(0, SYNC_BEGINS, call, object, second, name, 0);
}

static void returned(enum sync_call call, const volatile void *object, unsigned long result)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(SYNC_RETURNED, call, object, result, 0, 0);
}

/* Of libc; a program may be without. */
#pragma weak pthread_mutex_lock
#pragma weak pthread_mutex_unlock

/* A wait that ends at once: others may have the mutex in between. */
static word ended_wait(word mutex)
{
	OrigFn unlock = { .nraddr = (word)pthread_mutex_unlock },
	       lock = { .nraddr = (word)pthread_mutex_lock };
	word result;

	CALL_FN_W_W(result, unlock, mutex);
	if (!result)
		CALL_FN_W_W(result, lock, mutex);
	return result;
}

/* The mutex is held again. */
static bool waits_on(word condition, word result)
{
	return !result && VALGRIND_DO_CLIENT_REQUEST_EXPR(0, SYNC_WOKEN, condition, 0, 0, 0, 0);
}

/* One function with so many arguments; `object` and `second` are among them. */
#define WRAPPED(coded) I_WRAP_SONAME_FNNAME_ZZ(libcZdsoZa, coded)

#define SYNC_1(coded, name, call)                    \
	word WRAPPED(coded)(word a);                 \
	word WRAPPED(coded)(word a)                  \
	{                                            \
		OrigFn real;                         \
		word result;                         \
		VALGRIND_GET_ORIG_FN(real);          \
		begins(call, (void *)a, NULL, name); \
		CALL_FN_W_W(result, real, a);        \
		returned(call, (void *)a, result);   \
		return result;                       \
	}
#define SYNC_2(coded, name, call, second)              \
	word WRAPPED(coded)(word a, word b);           \
	word WRAPPED(coded)(word a, word b)            \
	{                                              \
		OrigFn real;                           \
		word result;                           \
		VALGRIND_GET_ORIG_FN(real);            \
		begins(call, (void *)a, second, name); \
		CALL_FN_W_WW(result, real, a, b);      \
		returned(call, (void *)a, result);     \
		return result;                         \
	}
#define SYNC_3(coded, name, call, second)              \
	word WRAPPED(coded)(word a, word b, word c);   \
	word WRAPPED(coded)(word a, word b, word c)    \
	{                                              \
		OrigFn real;                           \
		word result;                           \
		VALGRIND_GET_ORIG_FN(real);            \
		begins(call, (void *)a, second, name); \
		CALL_FN_W_WWW(result, real, a, b, c);  \
		returned(call, (void *)a, result);     \
		return result;                         \
	}
#define SYNC_4(coded, name, call, second)                    \
	word WRAPPED(coded)(word a, word b, word c, word d); \
	word WRAPPED(coded)(word a, word b, word c, word d)  \
	{                                                    \
		OrigFn real;                                 \
		word result;                                 \
		VALGRIND_GET_ORIG_FN(real);                  \
		begins(call, (void *)a, second, name);       \
		CALL_FN_W_WWWW(result, real, a, b, c, d);    \
		returned(call, (void *)a, result);           \
		return result;                               \
	}

/* Waits for the condition `a` with the mutex `b`. */
#define WAIT(coded, name, parameters, call_real)                             \
	word WRAPPED(coded) parameters;                                      \
	word WRAPPED(coded) parameters                                       \
	{                                                                    \
		OrigFn real;                                                 \
		word result;                                                 \
		VALGRIND_GET_ORIG_FN(real);                                  \
		if (begins(SYNC_CONDITION_WAIT, (void *)a, (void *)b, name)) \
			result = ended_wait(b);                              \
		else                                                         \
			do                                                   \
				call_real;                                   \
			while (waits_on(a, result));                         \
		returned(SYNC_CONDITION_WAIT, (void *)a, result);            \
		return result;                                               \
	}
#define WAIT_2(coded, name) WAIT(coded, name, (word a, word b), CALL_FN_W_WW(result, real, a, b))
#define WAIT_3(coded, name) WAIT(coded, name, (word a, word b, word c), CALL_FN_W_WWW(result, real, a, b, c))
#define WAIT_4(coded, name) \
	WAIT(coded, name, (word a, word b, word c, word d), CALL_FN_W_WWWW(result, real, a, b, c, d))

/* A signal that may have to wake several: then it is given so many times more. */
#define SIGNAL(coded, name)                                                  \
	word WRAPPED(coded)(word a);                                         \
	word WRAPPED(coded)(word a)                                          \
	{                                                                    \
		OrigFn real;                                                 \
		word result, more;                                           \
		VALGRIND_GET_ORIG_FN(real);                                  \
		more = begins(SYNC_CONDITION_SIGNAL, (void *)a, NULL, name); \
		do                                                           \
			CALL_FN_W_W(result, real, a);                        \
		while (more--);                                              \
		returned(SYNC_CONDITION_SIGNAL, (void *)a, result);          \
		return result;                                               \
	}

SYNC_1(pthreadZumutexZulock, "pthread_mutex_lock", SYNC_MUTEX_LOCK)
SYNC_1(pthreadZumutexZutrylock, "pthread_mutex_trylock", SYNC_MUTEX_TRY)
SYNC_2(pthreadZumutexZutimedlock, "pthread_mutex_timedlock", SYNC_MUTEX_LOCK, NULL)
SYNC_3(pthreadZumutexZuclocklock, "pthread_mutex_clocklock", SYNC_MUTEX_LOCK, NULL)
SYNC_1(pthreadZumutexZuunlock, "pthread_mutex_unlock", SYNC_MUTEX_UNLOCK)
WAIT_2(pthreadZucondZuwaitZAZa, "pthread_cond_wait")
WAIT_3(pthreadZucondZutimedwaitZAZa, "pthread_cond_timedwait")
WAIT_4(pthreadZucondZuclockwait, "pthread_cond_clockwait")
SIGNAL(pthreadZucondZusignalZAZa, "pthread_cond_signal")
SYNC_1(pthreadZucondZubroadcastZAZa, "pthread_cond_broadcast", SYNC_CONDITION_BROADCAST)
SYNC_1(pthreadZurwlockZurdlock, "pthread_rwlock_rdlock", SYNC_READ_LOCK)
SYNC_1(pthreadZurwlockZuwrlock, "pthread_rwlock_wrlock", SYNC_WRITE_LOCK)
SYNC_1(pthreadZurwlockZutryrdlock, "pthread_rwlock_tryrdlock", SYNC_TRY_READ)
SYNC_1(pthreadZurwlockZutrywrlock, "pthread_rwlock_trywrlock", SYNC_TRY_WRITE)
SYNC_2(pthreadZurwlockZutimedrdlock, "pthread_rwlock_timedrdlock", SYNC_READ_LOCK, NULL)
SYNC_2(pthreadZurwlockZutimedwrlock, "pthread_rwlock_timedwrlock", SYNC_WRITE_LOCK, NULL)
SYNC_3(pthreadZurwlockZuclockrdlock, "pthread_rwlock_clockrdlock", SYNC_READ_LOCK, NULL)
SYNC_3(pthreadZurwlockZuclockwrlock, "pthread_rwlock_clockwrlock", SYNC_WRITE_LOCK, NULL)
SYNC_1(pthreadZurwlockZuunlock, "pthread_rwlock_unlock", SYNC_RW_UNLOCK)
SYNC_1(pthreadZubarrierZuwait, "pthread_barrier_wait", SYNC_BARRIER_WAIT)
SYNC_1(semZuwaitZAZa, "sem_wait", SYNC_SEMAPHORE_WAIT)
SYNC_1(semZutrywaitZAZa, "sem_trywait", SYNC_OTHER)
SYNC_2(semZutimedwait, "sem_timedwait", SYNC_SEMAPHORE_WAIT, NULL)
SYNC_3(semZuclockwait, "sem_clockwait", SYNC_SEMAPHORE_WAIT, NULL)
SYNC_1(semZupostZAZa, "sem_post", SYNC_SEMAPHORE_POST)
SYNC_1(pthreadZuspinZulock, "pthread_spin_lock", SYNC_SPIN_LOCK)
SYNC_1(pthreadZuspinZutrylock, "pthread_spin_trylock", SYNC_SPIN_TRY)
SYNC_1(pthreadZuspinZuunlock, "pthread_spin_unlock", SYNC_SPIN_UNLOCK)
SYNC_2(pthreadZuonce, "pthread_once", SYNC_ONCE, NULL)
SYNC_4(pthreadZucreateZAZa, "pthread_create", SYNC_CREATE, NULL)
SYNC_2(pthreadZujoin, "pthread_join", SYNC_JOIN, NULL)
SYNC_3(pthreadZutimedjoinZunp, "pthread_timedjoin_np", SYNC_JOIN, NULL)
SYNC_2(pthreadZutryjoinZunp, "pthread_tryjoin_np", SYNC_OTHER, NULL)
SYNC_1(pthreadZudetach, "pthread_detach", SYNC_OTHER)
SYNC_1(pthreadZucancel, "pthread_cancel", SYNC_OTHER)

SYNC_1(mtxZulock, "mtx_lock", SYNC_MUTEX_LOCK)
SYNC_1(mtxZutrylock, "mtx_trylock", SYNC_MUTEX_TRY)
SYNC_2(mtxZutimedlock, "mtx_timedlock", SYNC_MUTEX_LOCK, NULL)
SYNC_1(mtxZuunlock, "mtx_unlock", SYNC_MUTEX_UNLOCK)
WAIT_2(cndZuwait, "cnd_wait")
WAIT_3(cndZutimedwait, "cnd_timedwait")
SIGNAL(cndZusignal, "cnd_signal")
SYNC_1(cndZubroadcast, "cnd_broadcast", SYNC_CONDITION_BROADCAST)
SYNC_3(thrdZucreate, "thrd_create", SYNC_CREATE, NULL)
SYNC_2(thrdZujoin, "thrd_join", SYNC_JOIN, NULL)
SYNC_2(callZuonce, "call_once", SYNC_ONCE, NULL)

/* Functions with a result that all threads share. Where it lies, the first call tells. */
#define STATE(coded, which, size)                                                                    \
	word WRAPPED(coded)(word a);                                                                 \
	word WRAPPED(coded)(word a)                                                                  \
	{                                                                                            \
		static word place;                                                                   \
		OrigFn real;                                                                         \
		word result;                                                                         \
		VALGRIND_GET_ORIG_FN(real);                                                          \
		if (place)                                                                           \
			state_request(STATE_TO_BE_WRITTEN, place, size, library_state_names[which]); \
		CALL_FN_W_W(result, real, a);                                                        \
		if (!place)                                                                          \
			state_request(STATE_WRITTEN, result, size, library_state_names[which]);      \
		place = result;                                                                      \
		return result;                                                                       \
	}

static void state_request(enum sync_request request, word place, word size, const char *name)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(request, place, size, name, 0, 0);
}

STATE(localtime, STATE_TIME, sizeof(struct tm))
STATE(gmtime, STATE_TIME, sizeof(struct tm))
STATE(ctime, STATE_DATE, 26)
STATE(asctime, STATE_DATE, 26)
