/* Which locks a thread holds where. Locksets are relative: a function that takes or
 * gives back a lock that it got as a parameter does so for whoever calls it. */
#ifndef STATIC_LOCKS_H
#define STATIC_LOCKS_H

#include "static/threads.h"

#define LOCKS_HELD 8u          /* more at a time are not kept */
#define LOCKS_ENTRY UINT32_MAX /* as `section`: the lock was held when the function was entered */

/* A lock as the analysis can tell it: the locations that the pointer may lead to. */
struct lock {
	uint64_t identity;
	uint32_t location;    /* the first of these locations */
	uint32_t locations;   /* how many there are */
	uint32_t instruction; /* a call that takes it */
};

struct held {
	uint32_t lock;
	uint32_t section; /* instruction that took it */
	bool shared;      /* for reading */
	/* Where the lock came from, if that is a parameter of the function, plus 1. */
	uint32_t parameter;
	int64_t offset;
};

struct lockset {
	struct held items[LOCKS_HELD];
	uint32_t n;
};

/* What a call of a function does to the locks of its caller. */
struct lock_summary {
	struct lockset takes; /* held on every way back */
	struct lockset gives; /* given back on some way, without having been taken inside */
};

struct locks {
	const struct threads *threads;
	VEC(struct lock) items;
	struct map numbers;             /* identity → lock */
	struct lock_summary *summaries; /* by function */
	struct lockset *entries;        /* by function: held by every caller */
	bool *concerned;                /* by function: takes or gives locks, or calls one that does */
};

void locks_start(struct locks *locks, const struct threads *threads);
void locks_free(struct locks *locks);

/* Calls `visit` for every instruction of a function that can be reached, in the order of the blocks, with what
 * is held before it, locks of the callers included. */
typedef void locks_visit(void *context, uint32_t instruction, const struct lockset *held);
void locks_walk(struct locks *locks, uint32_t function, locks_visit *visit, void *context);

/* The lock that a call takes, gives back or tries for; the lock's number, WHOLE_NONE for other calls. */
uint32_t locks_taken(struct locks *locks, const struct call *call, bool *shared, enum library_role *role);

/* A lock that both hold, and not both for reading; WHOLE_NONE for none. */
uint32_t locks_common(const struct lockset *a, const struct lockset *b);

#endif
