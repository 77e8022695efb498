/* Where the pointers of a whole program lead, and which functions its calls reach. */
#ifndef STATIC_POINTS_H
#define STATIC_POINTS_H

#include "static/library.h"
#include "static/solver.h"
#include "static/whole.h"

enum object_kind {
	OBJECT_GLOBAL,
	OBJECT_STACK,
	OBJECT_HEAP,
	OBJECT_FUNCTION,
	OBJECT_EXTRA, /* arguments that a function takes as "..." */
};

struct object {
	enum object_kind kind;
	LLVMValueRef value; /* global, function, or the instruction that makes it */
	bool own;           /* each thread has its own: thread-local */
	bool constant;      /* nobody may write it */
};

struct call {
	uint32_t instruction, caller;                 /* numbers of the whole */
	VEC(uint32_t) callees;                        /* functions with a body */
	VEC(const struct library_function *) library; /* roles of the functions without one */
	bool foreign;                                 /* may call a function that nobody knows */
};

/* Called now and then while pointers are followed. */
typedef void points_told(void *context, uint32_t waves);

struct points {
	struct whole *whole;
	points_told *told; /* may be NULL */
	void *told_context;
	struct solver solver;
	VEC(struct object) objects; /* as numbered by the solver */
	VEC(struct call) calls;
	struct map call_numbers;   /* instruction → call */
	struct map variables;      /* value → variable */
	struct map object_numbers; /* value → object */
	uint32_t *returns;         /* of each function, the variable that it returns */
	uint32_t *extras;          /* of each function with "...", the object of these arguments */
	struct map wrappers;       /* functions that return fresh blocks */
	struct set bound;          /* call << 32 | function: calls that were joined to a function */
	uint32_t own_values;       /* thread-specific values, all together */
	uint32_t nowhere;          /* a variable that leads nowhere, for what is no pointer */
};

void points_start(struct points *points, struct whole *whole, points_told *told, void *context);
void points_free(struct points *points);

/* Locations that a pointer may lead to. Empty for what is no pointer. */
const roaring_bitmap_t *points_to(struct points *points, LLVMValueRef pointer);
/* The call that an instruction is; NULL for others. */
const struct call *points_call(const struct points *points, uint32_t instruction);
/* The variable for a value; SOLVER_NONE for constants that lead nowhere. */
uint32_t points_variable(struct points *points, LLVMValueRef value);
uint32_t points_object(struct points *points, LLVMValueRef value, enum object_kind kind, uint32_t size);

/* For the rooms of this one. */
bool points_carries(LLVMTypeRef type); /* values of this type may be or hold pointers */
uint32_t points_size(const struct points *points, LLVMTypeRef type);
/* points_steps.c: constraints of an address computation, instruction or constant. */
void points_step(struct points *points, LLVMValueRef step, uint32_t to);
/* points_calls.c: constraints of calls. */
void points_add_call(struct points *points, LLVMValueRef instruction, uint32_t caller);
void points_called(void *context, uint32_t call, uint32_t location);
/* wrappers.c: functions that only pass on what an allocator gave. */
void points_find_wrappers(struct points *points);

#endif
