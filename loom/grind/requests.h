/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the functions in preload.c, which run as part of the program, tell the
 * tool: a synchronisation call begins or has returned. A claim about waits for
 * conditions may have one end at once or go on; the answers say so. */
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
 * its result in place of the second. */
enum sync_request {
	SYNC_BEGINS = VG_USERREQ_TOOL_BASE('U', 'N'), /* answer 1: this wait ends at once */
	SYNC_WOKEN, /* of a wait, in place of SYNC_RETURNED; answer 1: it is to wait on */
	SYNC_RETURNED,
	STATE_TO_BE_WRITTEN, /* what libc keeps: where, how many bytes, its name (model/library_state.h) */
	STATE_WRITTEN,       /* the same, afterwards */
};

#endif
