/* The table behind library_find. Whatever is missing here is taken to return what it
 * was given and to call the functions it was given. */
#include "static/library.h"

#include <stddef.h>
#include <string.h>

/* Sorted by name. */
static const struct library_function known[] = {
	{ "_ZNSt18condition_variable10notify_allEv", LIBRARY_SIGNAL, 0, -1, -1 },
	{ "_ZNSt18condition_variable10notify_oneEv", LIBRARY_SIGNAL, 0, -1, -1 },
	{ "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", LIBRARY_WAIT_CXX, 0, 1, -1 },
	{ "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
	  LIBRARY_CREATE_CXX, 0, 1, -1 },
	{ "_ZNSt6thread4joinEv", LIBRARY_JOIN_CXX, 0, -1, -1 },
	{ "_ZSt9terminatev", LIBRARY_END, -1, -1, -1 },
	{ "_Znam", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "_ZnamRKSt9nothrow_t", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "_ZnamSt11align_val_t", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "_Znwm", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "_ZnwmRKSt9nothrow_t", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "_ZnwmSt11align_val_t", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "__assert_fail", LIBRARY_END, -1, -1, -1 },
	{ "__cxa_allocate_exception", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "__cxa_atexit", LIBRARY_CALL, 0, 1, -1 },
	{ "__memcpy_chk", LIBRARY_COPY, 0, 1, 2 },
	{ "__memmove_chk", LIBRARY_COPY, 0, 1, 2 },
	{ "__strcpy_chk", LIBRARY_RETURN, 0, -1, -1 },
	{ "__strdup", LIBRARY_ALLOCATE, -1, -1, -1 },
	{ "_exit", LIBRARY_END, -1, -1, -1 },
	{ "abort", LIBRARY_END, -1, -1, -1 },
	{ "aligned_alloc", LIBRARY_ALLOCATE, 1, -1, -1 },
	{ "asprintf", LIBRARY_STORE_NEW, 0, -1, -1 },
	{ "atexit", LIBRARY_CALL, 0, -1, -1 },
	{ "bsearch", LIBRARY_SORT, 4, 0, 1 },
	{ "call_once", LIBRARY_ONCE, 0, 1, -1 },
	{ "calloc", LIBRARY_ALLOCATE, -1, -1, -1 },
	{ "cnd_broadcast", LIBRARY_SIGNAL, 0, -1, -1 },
	{ "cnd_signal", LIBRARY_SIGNAL, 0, -1, -1 },
	{ "cnd_timedwait", LIBRARY_WAIT, 0, 1, -1 },
	{ "cnd_wait", LIBRARY_WAIT, 0, 1, -1 },
	{ "exit", LIBRARY_END, -1, -1, -1 },
	{ "fopen", LIBRARY_ALLOCATE, -1, -1, -1 },
	{ "free", LIBRARY_FREE, 0, -1, -1 },
	{ "getline", LIBRARY_STORE_NEW, 0, -1, -1 },
	{ "malloc", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "memalign", LIBRARY_ALLOCATE, 1, -1, -1 },
	{ "memcpy", LIBRARY_COPY, 0, 1, 2 },
	{ "memmove", LIBRARY_COPY, 0, 1, 2 },
	{ "mempcpy", LIBRARY_COPY, 0, 1, 2 },
	{ "memset", LIBRARY_RETURN, 0, -1, -1 },
	{ "mmap", LIBRARY_ALLOCATE, -1, -1, -1 },
	{ "mmap64", LIBRARY_ALLOCATE, -1, -1, -1 },
	{ "mtx_lock", LIBRARY_LOCK, 0, -1, -1 },
	{ "mtx_timedlock", LIBRARY_TRY, 0, -1, -1 },
	{ "mtx_trylock", LIBRARY_TRY, 0, -1, -1 },
	{ "mtx_unlock", LIBRARY_UNLOCK, 0, -1, -1 },
	{ "open_memstream", LIBRARY_STORE_NEW, 0, -1, -1 },
	{ "posix_memalign", LIBRARY_STORE_NEW, 0, -1, -1 },
	{ "pthread_barrier_init", LIBRARY_BARRIER_INIT, 0, -1, 2 },
	{ "pthread_barrier_wait", LIBRARY_BARRIER, 0, -1, -1 },
	{ "pthread_cond_broadcast", LIBRARY_SIGNAL, 0, -1, -1 },
	{ "pthread_cond_clockwait", LIBRARY_WAIT, 0, 1, -1 },
	{ "pthread_cond_signal", LIBRARY_SIGNAL, 0, -1, -1 },
	{ "pthread_cond_timedwait", LIBRARY_WAIT, 0, 1, -1 },
	{ "pthread_cond_wait", LIBRARY_WAIT, 0, 1, -1 },
	{ "pthread_create", LIBRARY_CREATE, 0, 2, 3 },
	{ "pthread_exit", LIBRARY_END_THREAD, 0, -1, -1 },
	{ "pthread_getspecific", LIBRARY_GET_OWN, -1, -1, -1 },
	{ "pthread_join", LIBRARY_JOIN, 0, -1, -1 },
	{ "pthread_key_create", LIBRARY_PLAIN, -1, -1, -1 },
	{ "pthread_mutex_clocklock", LIBRARY_TRY, 0, -1, -1 },
	{ "pthread_mutex_lock", LIBRARY_LOCK, 0, -1, -1 },
	{ "pthread_mutex_timedlock", LIBRARY_TRY, 0, -1, -1 },
	{ "pthread_mutex_trylock", LIBRARY_TRY, 0, -1, -1 },
	{ "pthread_mutex_unlock", LIBRARY_UNLOCK, 0, -1, -1 },
	{ "pthread_once", LIBRARY_ONCE, 0, 1, -1 },
	{ "pthread_rwlock_rdlock", LIBRARY_LOCK_SHARED, 0, -1, -1 },
	{ "pthread_rwlock_timedrdlock", LIBRARY_TRY_SHARED, 0, -1, -1 },
	{ "pthread_rwlock_timedwrlock", LIBRARY_TRY, 0, -1, -1 },
	{ "pthread_rwlock_tryrdlock", LIBRARY_TRY_SHARED, 0, -1, -1 },
	{ "pthread_rwlock_trywrlock", LIBRARY_TRY, 0, -1, -1 },
	{ "pthread_rwlock_unlock", LIBRARY_UNLOCK, 0, -1, -1 },
	{ "pthread_rwlock_wrlock", LIBRARY_LOCK, 0, -1, -1 },
	{ "pthread_setspecific", LIBRARY_SET_OWN, -1, 1, -1 },
	{ "pthread_spin_lock", LIBRARY_LOCK, 0, -1, -1 },
	{ "pthread_spin_trylock", LIBRARY_TRY, 0, -1, -1 },
	{ "pthread_spin_unlock", LIBRARY_UNLOCK, 0, -1, -1 },
	{ "qsort", LIBRARY_SORT, 3, 0, 0 },
	{ "quick_exit", LIBRARY_END, -1, -1, -1 },
	{ "realloc", LIBRARY_REALLOCATE, 1, -1, -1 },
	{ "reallocarray", LIBRARY_REALLOCATE, -1, -1, -1 },
	{ "sem_clockwait", LIBRARY_DOWN, 0, -1, -1 },
	{ "sem_post", LIBRARY_UP, 0, -1, -1 },
	{ "sem_timedwait", LIBRARY_DOWN, 0, -1, -1 },
	{ "sem_wait", LIBRARY_DOWN, 0, -1, -1 },
	{ "signal", LIBRARY_HANDLER, 1, -1, -1 },
	{ "stpcpy", LIBRARY_RETURN, 0, -1, -1 },
	{ "strcat", LIBRARY_RETURN, 0, -1, -1 },
	{ "strchr", LIBRARY_RETURN, 0, -1, -1 },
	{ "strcpy", LIBRARY_RETURN, 0, -1, -1 },
	{ "strdup", LIBRARY_ALLOCATE, -1, -1, -1 },
	{ "strncat", LIBRARY_RETURN, 0, -1, -1 },
	{ "strncpy", LIBRARY_RETURN, 0, -1, -1 },
	{ "strndup", LIBRARY_ALLOCATE, -1, -1, -1 },
	{ "strrchr", LIBRARY_RETURN, 0, -1, -1 },
	{ "strstr", LIBRARY_RETURN, 0, -1, -1 },
	{ "thrd_create", LIBRARY_CREATE, 0, 1, 2 },
	{ "thrd_exit", LIBRARY_END_THREAD, 0, -1, -1 },
	{ "thrd_join", LIBRARY_JOIN, 0, -1, -1 },
	{ "tss_get", LIBRARY_GET_OWN, -1, -1, -1 },
	{ "tss_set", LIBRARY_SET_OWN, -1, 1, -1 },
	{ "valloc", LIBRARY_ALLOCATE, 0, -1, -1 },
	{ "vasprintf", LIBRARY_STORE_NEW, 0, -1, -1 },
};

const struct library_function *library_find(const char *name)
{
	static const struct library_function unknown = { "", LIBRARY_UNKNOWN, -1, -1, -1 };
	size_t low = 0, high = sizeof known / sizeof *known;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(name, known[middle].name);

		if (order == 0)
			return &known[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return &unknown;
}
