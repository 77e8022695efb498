/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the functions in preload.c, which run as part of the program, tell the
 * tool: a synchronisation call begins or has returned. */
#ifndef GRIND_REQUESTS_H
#define GRIND_REQUESTS_H

#include "valgrind.h"

enum sync_call {
	SYNC_MUTEX_LOCK,
	SYNC_MUTEX_TRY,
	SYNC_MUTEX_UNLOCK,
	SYNC_CONDITION_WAIT,
	SYNC_CONDITION_SIGNAL,
	SYNC_CONDITION_BROADCAST,
	SYNC_READ_LOCK,
	SYNC_WRITE_LOCK,
	SYNC_TRY_READ,
	SYNC_TRY_WRITE,
	SYNC_RW_UNLOCK,
	SYNC_BARRIER_WAIT,
	SYNC_SEMAPHORE_WAIT,
	SYNC_SEMAPHORE_POST,
	SYNC_SPIN_LOCK,
	SYNC_SPIN_TRY,
	SYNC_SPIN_UNLOCK,
	SYNC_ONCE,
	SYNC_CREATE,
	SYNC_JOIN,
	SYNC_OTHER, /* a point, and nothing else */
};

/* Arguments: the call, its object, a second object (the mutex of a wait), the function's name; after the call
 * its result in place of the second, and the answer is whether it is to be made once more. */
enum sync_request {
	SYNC_BEGINS = VG_USERREQ_TOOL_BASE('U', 'N'),
	SYNC_RETURNED,
};

#endif
