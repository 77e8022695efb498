/* The whole program as one module, and its functions and instructions by number. */
#ifndef STATIC_WHOLE_H
#define STATIC_WHOLE_H

#include "loom/compile/transform.h"
#include "static/bitcode.h"

#define WHOLE_NONE UINT32_MAX

struct whole {
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	struct source source;
	struct bitcodes bitcodes;

	VEC(LLVMValueRef) functions;    /* those with a body */
	struct map function_numbers;    /* function → number */
	VEC(LLVMValueRef) instructions; /* of all functions, one function after the other, in block order */
	struct map instruction_numbers; /* instruction → number */
	uint32_t *first;                /* of each function its first instruction; one more at the end */
};

/* Reads and links all that the files hold. */
struct error *whole_read(const char *const *paths, size_t n, struct whole *out);
void whole_free(struct whole *whole);

uint32_t whole_function(const struct whole *whole, LLVMValueRef function);       /* WHOLE_NONE: no body */
uint32_t whole_instruction(const struct whole *whole, LLVMValueRef instruction); /* WHOLE_NONE */
uint32_t whole_function_of(const struct whole *whole, uint32_t instruction);     /* that holds it */

static inline uint64_t whole_key(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* The function that is called by its name; NULL for calls through pointers, and for all but calls. */
LLVMValueRef whole_callee(LLVMValueRef call);
/* The name of a function or global. */
const char *whole_name(LLVMValueRef value);
/* Whether an instruction is a call, an invoke or the like, no intrinsic that only serves debuggers. */
bool whole_is_call(LLVMValueRef instruction);
unsigned whole_arguments(LLVMValueRef call);

/* creators.c: functions that create a thread for their caller, with a function that it gives them, become part of
 * it. */
void whole_inline_creators(struct whole *whole);

/* tester_hooks.c: calls of the active tester before and after the instructions of these places. */
struct build_sites;
void whole_hook(struct whole *whole, const struct build_sites *sites);
/* plain_body.c: when it is entered while the byte `armed` is 0, the function runs a copy of its body that later
 * changes do not touch. false: the body cannot be copied, and nothing was changed. */
bool whole_add_plain_body(struct whole *whole, LLVMValueRef function, LLVMValueRef armed);

#endif
