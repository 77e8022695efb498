/* Inclusion-based points-to analysis, apart from any program text: variables, objects
 * with byte offsets, and constraints between them. Field-sensitive: a location is an
 * object and an offset in it. Where a program steps through an object with a variable
 * index, offsets that differ by a multiple of the step become one. Knows nothing of
 * LLVM, so that it can be held against a naive twin. */
#ifndef STATIC_SOLVER_H
#define STATIC_SOLVER_H

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/memory.h"

#define SOLVER_NONE UINT32_MAX
#define SOLVER_REGIONS 6u   /* repeating parts that an object may have before it becomes one cell */
#define SOLVER_OFFSETS 384u /* distinct offsets that an object may have before it becomes one cell */

#define SOLVER_DRIFTS \
	4u /* copies to another offset, one after the other, before the object becomes one cell */

#define SOLVER_LARGE 100u       /* locations of one pointer beyond which they share what is stored there */
#define SOLVER_EXACT_COPIES 64u /* pairs of blocks up to which a copy goes member by member */
#define SOLVER_EXACT_STARTS \
	8u /* places in one object up to which a copy through a hub keeps them apart, then it is all of the object */

/* From `start` on (up to `end`) the object repeats every `stride` bytes. */
struct solver_region {
	uint32_t start, end, stride;
};

/* A block copy reads or writes an object from this location on. */
struct solver_listener {
	uint32_t copy, block;
	bool reads;
	bool whole; /* all of the object, wherever the copy begins and ends */
};

struct solver_object {
	uint32_t size;  /* 0 = not known */
	bool unrenewed; /* listed in the solver's */
	uint32_t nregions;
	struct solver_region regions[SOLVER_REGIONS];
	VEC(uint32_t) locations; /* those made so far */
	/* Block copies that lead from or to this object: told of every location that gets a content. */
	VEC(struct solver_listener) listeners;
};

struct solver_location {
	uint32_t object, offset;
	uint32_t content; /* variable: what is stored there; SOLVER_NONE until somebody asks */
	/* Only block copies made it, and of those that led here from another offset these were in a row. */
	uint32_t drifts;
};

/* A constraint that hangs on a pointer variable and acts on each location it gets. */
enum solver_act {
	SOLVER_LOAD,
	SOLVER_STORE,
	SOLVER_STEP,
	SOLVER_WALK,
	SOLVER_CALL,
	SOLVER_BLOCK_FROM, /* made by solver_block_copy */
	SOLVER_BLOCK_TO,
};
struct solver_constraint {
	enum solver_act act;
	uint32_t
		other; /* variable: target of a load, step or walk, source of a store; number of a call or block copy */
	int32_t offset;  /* of a step; of a walk: below 0 when it may have begun before the pointer */
	uint32_t stride; /* of a walk */
	uint32_t extent; /* of a walk: bytes from the pointer on that repeat; 0 = to the end */
};

struct solver_variable {
	uint32_t parent;          /* union-find */
	roaring_bitmap_t *points; /* all that is known */
	roaring_bitmap_t *delta;  /* of these: not yet sent along the copies */
	roaring_bitmap_t *fresh;  /* of these: sent, but the constraints have not acted on them yet */
	VEC(uint32_t) copies;     /* to these variables */
	VEC(struct solver_constraint) constraints;
};

/* Constraints that still have to act on locations which their variable has had for long: they are new, or their
 * variable was united with another. */
struct solver_debt {
	roaring_bitmap_t *locations;
	VEC(struct solver_constraint) constraints;
};

/* A step down from a location leads elsewhere once the location stands for a whole array: these are done again. */
struct solver_step_down {
	uint32_t pointer;
	struct solver_constraint constraint;
};

/* All that is stored from one location on is stored from another on. */
struct solver_block_copy {
	uint32_t size;          /* 0 = not known */
	VEC(uint32_t) from, to; /* locations, as far as the pointers are known to lead there */
	/* Where very many blocks may be copied to very many others, all that is stored there goes through one
	 * variable. */
	uint32_t hub;
};

struct solver {
	VEC(struct solver_variable) variables;
	VEC(struct solver_object) objects;
	VEC(struct solver_location) locations;
	VEC(struct solver_block_copy) block_copies;
	VEC(struct solver_debt) debts;
	VEC(struct solver_step_down) steps_down;
	VEC(uint32_t) untold; /* locations with a content that block copies have not heard of */
	VEC(uint32_t)
	unrenewed;          /* objects whose offsets have become one, of which they have not heard either */
	struct map numbers; /* object << 32 | offset → location */
	struct map
		starts; /* block copy, object and direction → places in the object that a hub reads or writes */
	struct set edges; /* from << 32 | to: copies that exist */
	/* Called when a call's function pointer reaches a location. May add anything. */
	void (*called)(void *context, uint32_t call, uint32_t location);
	/* Called now and then with the numbers of waves and variables; may be NULL. */
	void (*progress)(void *context, uint32_t waves, size_t variables);
	void *context;
	uint32_t large; /* SOLVER_LARGE unless a test sets it */
	bool changed;
	bool folded; /* offsets have become one since the last wave */
};

uint32_t solver_variable(struct solver *solver);
uint32_t solver_object(struct solver *solver, uint32_t size);
/* SOLVER_NONE when the offset lies outside the object. */
uint32_t solver_location(struct solver *solver, uint32_t object, int64_t offset);
/* The variable that stands for what is stored at a location. */
uint32_t solver_content(struct solver *solver, uint32_t location);

void solver_points(struct solver *solver, uint32_t variable, uint32_t location);
void solver_copy(struct solver *solver, uint32_t from, uint32_t to);
void solver_constrain(struct solver *solver, uint32_t pointer, struct solver_constraint constraint);
void solver_block_copy(struct solver *solver, uint32_t from, uint32_t to, uint32_t size);
/* The object repeats: all its offsets from `start` on that differ by a multiple of `stride` are one. */
void solver_repeat(struct solver *solver, uint32_t object, uint32_t start, uint32_t end, uint32_t stride);

void solver_solve(struct solver *solver);
/* Locations that a variable may point to, as they are called now. Valid until the solver changes. */
const roaring_bitmap_t *solver_answer(struct solver *solver, uint32_t variable);
/* The location that stands for this one after offsets were united. */
uint32_t solver_canonical(struct solver *solver, uint32_t location);
void solver_free(struct solver *solver);

#endif
