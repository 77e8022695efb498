/* Threads of a program as far as its text tells: where they are created, what they may
 * run, and which instructions of their creator may run beside them. */
#ifndef STATIC_THREADS_H
#define STATIC_THREADS_H

#include "static/points.h"

#define THREADS_MOST 64u /* roots; further places of creation share the last one */

struct root {
	uint32_t create;   /* instruction that makes it; WHOLE_NONE for the program's start */
	uint32_t function; /* where it begins */
	uint32_t parent;   /* the root that creates it; WHOLE_NONE: several may */
	bool many;         /* several threads of this root may run at a time */
	bool handler;      /* runs when a signal comes */
	bool joined;       /* somebody waits for its end, and we know where */
	bool *runs;        /* of each function: may a thread of this root run it? */
	/* Of each instruction of the parent: bits of enum thread_moment. NULL when nothing is known. */
	uint8_t *beside;
};

enum thread_moment {
	THREAD_STARTED = 1, /* it may have been created when the parent is there */
	THREAD_ALIVE = 2,   /* and not be joined yet */
};

struct threads {
	struct points *points;
	struct root *roots;
	uint32_t n;
	bool *called;            /* of each function: is it called, other than to begin a thread? */
	bool *repeated;          /* of each function: may it run more than once? */
	struct loops *loops;     /* of each function */
	VEC(uint32_t) * callers; /* of each function: its calls, by number */
};

void threads_start(struct threads *threads, struct points *points);
void threads_free(struct threads *threads);

/* May a thread of root `other` run while one of `root` is at the instruction? */
bool threads_beside(const struct threads *threads, uint32_t instruction, uint32_t root, uint32_t other);
/* Bits of the roots that may run a function. */
uint64_t threads_running(const struct threads *threads, uint32_t function);
bool threads_in_loop(const struct threads *threads, uint32_t instruction);
bool threads_creates(const struct call *call); /* is it a call that makes a thread? */

/* joins.c: where a thread's end is waited for. */
struct joins {
	struct map calls; /* instructions behind which the thread is gone */
	struct map edges; /* ways out of a loop behind which all threads of the root are gone */
};
uint64_t joins_edge(LLVMBasicBlockRef from, LLVMBasicBlockRef to);
void joins_find(const struct threads *threads, const struct root *root, struct joins *out);
void joins_free(struct joins *joins);

/* flow.c: fills root->beside. */
void flow_beside(const struct threads *threads, struct root *root, const struct joins *joins);

/* places.c: what an address is, if the text says so exactly. */
struct place {
	LLVMValueRef base; /* stack variable, global, parameter or other value */
	int64_t offset;
	LLVMValueRef index; /* NULL, or the one variable index */
	uint64_t stride;
};
bool place_of(const struct whole *whole, LLVMValueRef pointer, struct place *out);
/* The same for a thread of one root: what its function was given is what its creation gave. */
bool place_in_root(const struct threads *threads, LLVMValueRef pointer, uint32_t function, uint32_t root,
		   struct place *out);
/* How many bytes are left, from the place's offset on, of the array that it lies in, as a variable of the program is
 * declared; 0 when it is in none or that is not known. An index never leads out of its array. */
uint32_t place_left_of_array(const struct whole *whole, const struct place *place);
/* Can the two never overlap? Sizes of 0 are unknown. */
bool places_apart(const struct place *a, uint32_t a_size, const struct place *b, uint32_t b_size);

#endif
