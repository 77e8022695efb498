/* The weaver: inserts the hooks of one function after the other and collects
 * the unit's sites; at the end adds table, descriptor and constructor. */
#ifndef COMPILE_WEAVE_H
#define COMPILE_WEAVE_H

#include "loom/compile/transform.h"

/* loom/runtime/observe/hooks.c as bitcode. */
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

	/* groups.c */
	LLVMValueRef base;
	int64_t offset; /* of the pointer from `base` */
	uint32_t head;  /* first access of its group, as a rule itself */
	/* of a head */
	uint32_t members, step; /* how many there are, every how manyth access is one */
	uint32_t site;
};

/* Accesses without a call between them, some of them in groups. */
#define APART_MOST 6u
struct stretch {
	uint32_t first, end;
	uint32_t first_head; /* of the first group */
	/* Accesses or groups, by their heads, that must not overlap, or each access is hooked alone. */
	struct apart {
		uint32_t a, b;
	} apart[APART_MOST];
	uint32_t napart;
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
	/* of the functions that hooks are or call */
	LLVMTypeRef hook_type, called_type, range_type, fresh_type, loop_type, group_type, alone_type,
		wait_type;
	struct map reaching; /* functions of the C++ library's headers that may synchronise */
	LLVMValueRef self_global, descriptor;
	struct map chosen; /* of a sparse build: instructions that get hooks */

	/* of the function at hand */
	LLVMValueRef function;
	VEC(struct access) accesses;
	VEC(LLVMValueRef) syncs;  /* calls that synchronise */
	VEC(LLVMValueRef) allocs; /* calls that allocate */
	uint32_t ordinal;
	LLVMValueRef self, tag, word, first, halves, wholes, marks,
		memos;               /* computed once, in the entry block */
	VEC(struct stretch) grouped; /* stretches with groups */
	uint32_t next_grouped;
	LLVMValueRef together; /* 0 from the first group of the stretch on that is not quiet */
	LLVMValueRef order;    /* of the stretch at hand, before its first access */
	uint32_t order_used;
};

/* Is the function the program's own, and may it be changed? */
bool weave_wants_hooks(LLVMValueRef function);
/* The accesses of weave->function in program order, the first one of each stretch without calls marked. */
void weave_collect(struct weave *weave);
/* sparse.c: finds the accesses of a sparse build in the unit; leaves only those of a function. */
struct error *sparse_choose(struct weave *weave);
void sparse_keep(struct weave *weave);
void weave_start(struct weave *weave);
void weave_entry(struct weave *weave);
void weave_access(struct weave *weave, uint32_t index);
void weave_variables(struct weave *weave); /* stack variables that others may see start afresh */
void weave_syncs_start(struct weave *weave);
void weave_syncs_collect(struct weave *weave);
void weave_syncs(struct weave *weave);
void weave_allocs_collect(struct weave *weave);
const char *weave_allocator(LLVMValueRef call); /* NULL when the call allocates nothing */
void weave_allocs(struct weave *weave);
/* Keeps the number of the unit's site `index` in a field of the thread while the call goes on. */
/* Where a call that returned goes on; NULL when others come there too, or it is no place for more. */
LLVMValueRef weave_behind(LLVMValueRef call);
void weave_number(struct weave *weave, LLVMValueRef call, uint32_t index, size_t field);
void weave_loops(struct weave *weave, struct loops *loops);
LLVMValueRef weave_first_place(LLVMBasicBlockRef block); /* behind all that must begin it */
/* Loops that may wait for other threads (weave_waits.c): marks them, before hooks change their
 * conditions; false when there are none. */
bool weave_waits_find(struct loops *loops);
void weave_waits(struct weave *weave, const struct loops *loops);
/* groups.c; the pointer less its constant steps, which are `*offset` bytes */
void groups_find(struct weave *weave);
LLVMValueRef groups_base(LLVMTargetDataRef layout, LLVMValueRef pointer, int64_t *offset);
void weave_finish(struct weave *weave);

/* For the rooms of the weaver: a new site for `instruction`; returns its index in the unit. */
uint32_t weave_site(struct weave *weave, LLVMValueRef instruction, enum site_kind kind, uint32_t size,
		    LLVMValueRef pointer);
/* Puts the builder before `instruction`, with a debug location that the verifier accepts. */
void weave_before(struct weave *weave, LLVMValueRef instruction);
static inline LLVMValueRef weave_constant(const struct weave *weave, uint64_t value)
{
	return LLVMConstInt(weave->i64, value, 0);
}
LLVMValueRef weave_function_named(struct weave *weave, const char *name, LLVMTypeRef type);
/* Calls a hook for an access of any size. */
void weave_range(struct weave *weave, const char *name, LLVMValueRef word, LLVMValueRef address,
		 LLVMValueRef size);
/* The access of a library call (weave_calls.c); its size may depend on strings or on the result. */
void weave_extent(struct weave *weave, const struct access *access, LLVMValueRef word, LLVMValueRef address);
/* A memory intrinsic of a small constant size is as good as a load or store; `access` then tells its size. */
bool weave_extent_is_fixed(struct access *access);
LLVMValueRef weave_field(struct weave *weave, LLVMTypeRef type, size_t offset, const char *name);

#endif
