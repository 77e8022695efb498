/* The program's accesses to memory that several threads may reach. */
#ifndef STATIC_ACCESSES_H
#define STATIC_ACCESSES_H

#include "static/locks.h"

struct access_at {
	uint32_t instruction, function;
	LLVMValueRef pointer;
	enum site_kind kind; /* READ, WRITE or UPDATE */
	bool atomic;
	bool frees;
	bool unwinding;   /* done only when an exception was thrown */
	uint32_t size;    /* 0 = not known */
	uint64_t roots;   /* bits of the roots that may run it */
	uint32_t breadth; /* shared locations that its pointer may lead to */
	LLVMValueRef tag; /* of type-based alias analysis; NULL */
	struct lockset held;
};

/* Beyond so many locations an access is wide: nobody knows what it touches. Wide accesses stand with no object but
 * in clouds, one for each type's tag, together with those accesses that have the same tag and touch what a wide one
 * may touch as well. */
#define ACCESSES_WIDE SOLVER_LARGE

/* One access of an object, at one offset. */
struct touch {
	uint32_t access, offset;
};

struct accesses {
	struct locks *locks;
	VEC(struct access_at) items;
	struct map numbers;          /* instruction → first of its accesses, plus 1 */
	VEC(struct touch) * touches; /* by object, then by cloud */
	uint32_t nclouds;
	struct map clouds;         /* tag → number behind those of the objects */
	bool *shared;              /* by object: can another thread than its owner reach it? */
	uint64_t private_accesses; /* that were left out, since only one thread can reach what they touch */
};

void accesses_start(struct accesses *accesses, struct locks *locks);
void accesses_free(struct accesses *accesses);

/* The cloud that an access with this tag belongs to, as a number for `touches`; SOLVER_NONE when there is none. */
uint32_t accesses_cloud(const struct accesses *accesses, LLVMValueRef tag);
/* Do the two access overlapping parts of one object? Its number, or SOLVER_NONE. */
uint32_t accesses_meet(struct accesses *accesses, const struct access_at *a, const struct access_at *b);
/* tags.c: may accesses with these tags be of one location, by the rules of C's types? */
bool tags_may_meet(const struct source *source, LLVMValueRef a, LLVMValueRef b);

#endif
