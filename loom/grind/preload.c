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

#include <stddef.h>

static void begins(enum sync_call call, const volatile void *object, const volatile void *second,
		   const char *name)
{
	VALGRIND_DO_CLIENT_REQUEST_STMT(SYNC_BEGINS, call, object, second, name, 0);
}

/* True: the call is to be made once more. */
static int returned(enum sync_call call, const volatile void *object, unsigned long result)
{
	return (int)VALGRIND_DO_CLIENT_REQUEST_EXPR(0, SYNC_RETURNED, call, object, result, 0, 0);
}

typedef unsigned long word;

/* One function with so many arguments; `object` and `second` are among them. */
#define WRAPPED(coded) I_WRAP_SONAME_FNNAME_ZZ(libcZdsoZa, coded)

#define SYNC_1(coded, name, call)                            \
	word WRAPPED(coded)(word a);                         \
	word WRAPPED(coded)(word a)                          \
	{                                                    \
		OrigFn real;                                 \
		word result;                                 \
		VALGRIND_GET_ORIG_FN(real);                  \
		do {                                         \
			begins(call, (void *)a, NULL, name); \
			CALL_FN_W_W(result, real, a);        \
		} while (returned(call, (void *)a, result)); \
		return result;                               \
	}
#define SYNC_2(coded, name, call, second)                      \
	word WRAPPED(coded)(word a, word b);                   \
	word WRAPPED(coded)(word a, word b)                    \
	{                                                      \
		OrigFn real;                                   \
		word result;                                   \
		VALGRIND_GET_ORIG_FN(real);                    \
		do {                                           \
			begins(call, (void *)a, second, name); \
			CALL_FN_W_WW(result, real, a, b);      \
		} while (returned(call, (void *)a, result));   \
		return result;                                 \
	}
#define SYNC_3(coded, name, call, second)                      \
	word WRAPPED(coded)(word a, word b, word c);           \
	word WRAPPED(coded)(word a, word b, word c)            \
	{                                                      \
		OrigFn real;                                   \
		word result;                                   \
		VALGRIND_GET_ORIG_FN(real);                    \
		do {                                           \
			begins(call, (void *)a, second, name); \
			CALL_FN_W_WWW(result, real, a, b, c);  \
		} while (returned(call, (void *)a, result));   \
		return result;                                 \
	}
#define SYNC_4(coded, name, call, second)                         \
	word WRAPPED(coded)(word a, word b, word c, word d);      \
	word WRAPPED(coded)(word a, word b, word c, word d)       \
	{                                                         \
		OrigFn real;                                      \
		word result;                                      \
		VALGRIND_GET_ORIG_FN(real);                       \
		do {                                              \
			begins(call, (void *)a, second, name);    \
			CALL_FN_W_WWWW(result, real, a, b, c, d); \
		} while (returned(call, (void *)a, result));      \
		return result;                                    \
	}

SYNC_1(pthreadZumutexZulock, "pthread_mutex_lock", SYNC_MUTEX_LOCK)
SYNC_1(pthreadZumutexZutrylock, "pthread_mutex_trylock", SYNC_MUTEX_TRY)
SYNC_2(pthreadZumutexZutimedlock, "pthread_mutex_timedlock", SYNC_MUTEX_LOCK, NULL)
SYNC_3(pthreadZumutexZuclocklock, "pthread_mutex_clocklock", SYNC_MUTEX_LOCK, NULL)
SYNC_1(pthreadZumutexZuunlock, "pthread_mutex_unlock", SYNC_MUTEX_UNLOCK)
SYNC_2(pthreadZucondZuwaitZAZa, "pthread_cond_wait", SYNC_CONDITION_WAIT, (void *)b)
SYNC_3(pthreadZucondZutimedwaitZAZa, "pthread_cond_timedwait", SYNC_CONDITION_WAIT, (void *)b)
SYNC_4(pthreadZucondZuclockwait, "pthread_cond_clockwait", SYNC_CONDITION_WAIT, (void *)b)
SYNC_1(pthreadZucondZusignalZAZa, "pthread_cond_signal", SYNC_CONDITION_SIGNAL)
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
SYNC_2(cndZuwait, "cnd_wait", SYNC_CONDITION_WAIT, (void *)b)
SYNC_3(cndZutimedwait, "cnd_timedwait", SYNC_CONDITION_WAIT, (void *)b)
SYNC_1(cndZusignal, "cnd_signal", SYNC_CONDITION_SIGNAL)
SYNC_1(cndZubroadcast, "cnd_broadcast", SYNC_CONDITION_BROADCAST)
SYNC_3(thrdZucreate, "thrd_create", SYNC_CREATE, NULL)
SYNC_2(thrdZujoin, "thrd_join", SYNC_JOIN, NULL)
SYNC_2(callZuonce, "call_once", SYNC_ONCE, NULL)
