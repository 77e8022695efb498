/* What functions without a body do to threads, locks and pointers: a model of libc,
 * of the thread libraries and of what C++ calls. */
#ifndef STATIC_LIBRARY_H
#define STATIC_LIBRARY_H

#include <stdint.h>

enum library_role {
	LIBRARY_UNKNOWN,
	LIBRARY_PLAIN,      /* gives no pointer back, keeps none */
	LIBRARY_ALLOCATE,   /* returns a fresh block; `a` is the argument that is its size, -1 = unknown */
	LIBRARY_REALLOCATE, /* the same, holding what argument 0 held */
	LIBRARY_STORE_NEW,  /* stores a fresh block where argument `a` points */
	LIBRARY_FREE,
	LIBRARY_RETURN, /* returns argument `a` */
	LIBRARY_COPY,   /* copies memory: to `a`, from `b`, of size `c`; returns `a` */
	LIBRARY_CALL,   /* calls argument `a`, which gets what `b` and `c` are (-1 none) */
	LIBRARY_SORT,   /* calls argument `a` with pointers into the arrays `b` and `c` */

	LIBRARY_CREATE,     /* a thread: handle `a`, function `b`, argument `c` */
	LIBRARY_CREATE_CXX, /* std::thread: argument `b` points to what points to the state */
	LIBRARY_JOIN,       /* waits for the thread whose handle is `a` */
	LIBRARY_JOIN_CXX,   /* std::thread::join: `a` points to the handle */
	LIBRARY_LOCK,
	LIBRARY_LOCK_SHARED,
	LIBRARY_TRY,        /* to lock: 0 means it has it */
	LIBRARY_TRY_SHARED, /* to lock for reading */
	LIBRARY_UNLOCK,
	LIBRARY_WAIT,         /* condition `a`, mutex `b` */
	LIBRARY_WAIT_CXX,     /* condition `a`, `b` points to what points to the mutex */
	LIBRARY_SIGNAL,       /* condition `a` */
	LIBRARY_BARRIER,      /* waits at `a` */
	LIBRARY_BARRIER_INIT, /* `a`, for `c` threads */
	LIBRARY_DOWN,         /* semaphore `a` */
	LIBRARY_UP,           /* semaphore `a` */
	LIBRARY_ONCE,         /* calls `b` once, guarded by `a` */
	LIBRARY_SET_OWN,      /* thread-specific value: argument `b` */
	LIBRARY_GET_OWN,
	LIBRARY_END,        /* does not return; ends the process */
	LIBRARY_END_THREAD, /* does not return; ends the thread */
	LIBRARY_HANDLER,    /* argument `a` is called when a signal comes */
};

struct library_function {
	const char *name;
	enum library_role role;
	int8_t a, b, c;
};

/* Never NULL: LIBRARY_UNKNOWN for what nobody knows. */
const struct library_function *library_find(const char *name);

#endif
