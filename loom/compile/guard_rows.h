/* Rows: what a loop accesses in some of its turns, looked at in one go. */
#ifndef COMPILE_GUARD_ROWS_H
#define COMPILE_GUARD_ROWS_H

#include "loom/compile/weave.h"

struct guarded_unit;

#define ROWS_MOST 16u      /* in one loop */
#define ROW_CHECKS_MOST 8u /* pairs of rows that are compared at run time */
#define ROW_TURNS 16u      /* of a loop that are looked at together */

/* The same bytes from turn to turn, `step` further each time. */
struct guard_row {
	LLVMValueRef instruction, pointer; /* of the lowest access */
	LLVMValueRef base;
	int64_t offset; /* of the pointer from `base` */
	int64_t step;   /* 0: the same bytes in every turn */
	uint32_t extent;
	uint32_t site, late; /* numbers; late: of the write of the bytes that this row reads, 0 for none */
	enum site_kind kind;
	bool gone;       /* each of its accesses has a hook of its own */
	bool spoken_for; /* by another row */
};
static inline bool row_speaks(const struct guard_row *row)
{
	return !row->gone && !row->spoken_for;
}

struct row_loop {
	LLVMValueRef function;
	LLVMBasicBlockRef block; /* the whole of the loop */
	/* It goes on while `moving`, which grows by `stride`, is below or, with `until_equal`, is not `limit`. */
	LLVMValueRef moving, limit;
	int64_t stride;
	bool until_equal, is_signed;
	struct guard_row rows[ROWS_MOST];
	uint32_t n;
	struct {
		uint32_t a, b;
	} checks[ROW_CHECKS_MOST]; /* of rows that must not overlap */
	uint32_t nchecks;
};

/* guard_affine.c: by how many bytes or units the value grows from turn to turn of the loop that is this block; false
 * when that is no constant. What it says yes to can be computed anywhere in the loop from the values of the turn. */
bool affine_step(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef value, int64_t *step);
/* Is the block a loop by itself, in which nobody waits for anybody? Then how often it still runs is known. */
bool affine_loop(LLVMTargetDataRef layout, LLVMBasicBlockRef block, struct row_loop *out);
bool affine_may_synchronise(LLVMValueRef instruction);
/* The value of the first turn, computed where the builder is. The loop is entered from one block alone. */
LLVMValueRef affine_build(struct weave *weave, LLVMBasicBlockRef loop, LLVMValueRef value);

/* guard_rows.c: marks the accesses that rows speak for. */
void guard_rows_find(struct weave *weave, struct guarded_unit *unit);
/* guard_rows_weave.c */
void guard_rows_weave(struct weave *weave, const struct guarded_unit *unit);

#endif
