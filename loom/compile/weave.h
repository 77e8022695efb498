/* The weaver: inserts the hooks of one function after the other and collects
 * the unit's sites; at the end adds table, descriptor and constructor. */
#ifndef COMPILE_WEAVE_H
#define COMPILE_WEAVE_H

#include "loom/compile/transform.h"

/* loom/runtime/hooks.c as bitcode. */
extern const char hooks_bitcode[], hooks_bitcode_end[];

struct access {
	LLVMValueRef instruction;
	enum site_kind kind; /* READ, WRITE or UPDATE */
	LLVMValueRef pointer;
	uint32_t size, alignment;    /* of an instruction's own access */
	const struct extent *extent; /* of a library call's access, else NULL */
	bool starts;                 /* first in a stretch without calls */
	bool inlined;                /* the fast path is inlined here */
	bool called;                 /* the runtime's function does it all, order included */
};

struct weave {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMTargetDataRef layout;
	const struct transform_options *options;
	struct source source;
	struct table table;
	LLVMBuilderRef builder;
	LLVMTypeRef i8, i16, i32, i64, pointer, nothing;
	LLVMTypeRef hook_type, called_type, range_type, fresh_type,
		loop_type;   /* of the functions hooks call */
	struct map reaching; /* functions of the C++ library's headers that may synchronise */
	LLVMValueRef self_global, descriptor;

	/* of the function at hand */
	LLVMValueRef function;
	VEC(struct access) accesses;
	VEC(LLVMValueRef) syncs;  /* calls that synchronise */
	VEC(LLVMValueRef) allocs; /* calls that allocate */
	uint32_t ordinal;
	LLVMValueRef self, tag, word, first, halves, wholes, marks, memos; /* computed once, in the entry block */
	LLVMValueRef order;                  /* of the stretch at hand, before its first access */
	uint32_t order_used;
};

void weave_start(struct weave *weave);
void weave_entry(struct weave *weave);
void weave_access(struct weave *weave, const struct access *access);
void weave_variables(struct weave *weave); /* stack variables that others may see start afresh */
void weave_syncs_start(struct weave *weave);
void weave_syncs_collect(struct weave *weave);
void weave_syncs(struct weave *weave);
void weave_allocs_collect(struct weave *weave);
void weave_allocs(struct weave *weave);
/* Keeps the number of the unit's site `index` in a field of the thread while the call goes on. */
void weave_number(struct weave *weave, LLVMValueRef call, uint32_t index, size_t field);
void weave_loops(struct weave *weave, struct loops *loops);
void weave_finish(struct weave *weave);

/* For the rooms of the weaver: a new site for `instruction`; returns its index in the unit. */
uint32_t weave_site(struct weave *weave, LLVMValueRef instruction, enum site_kind kind, uint32_t size,
		    LLVMValueRef pointer);
/* Puts the builder before `instruction`, with a debug location that the verifier accepts. */
void weave_before(struct weave *weave, LLVMValueRef instruction);
LLVMValueRef weave_field(struct weave *weave, LLVMTypeRef type, size_t offset, const char *name);

#endif
