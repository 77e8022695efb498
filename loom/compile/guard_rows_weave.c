/* Hooks of rows. A loop of one block becomes two, one in the other:
 *
 *   chunk: the phis of the old loop; finds out how many turns are left, takes up to
 *          ROW_TURNS of them and notes the rows
 *   body:  the loop as it was, that many times
 *   late:  notes the writes of what these turns read
 *   end:   the old block with the old branch, back to `chunk` or out
 *
 * Where rows would meet that must not, or so few turns are left that calls would cost
 * more than they spare, one turn is taken, by inlined hooks where there are some.
 */
#include <llvm-c/DebugInfo.h>

#include "loom/compile/guard_weave.h"

#define FEWEST_TURNS 4u /* for which calls for rows cost less than inlined hooks */

struct rows_weave {
	struct weave *weave;
	const struct row_loop *loop;
	bool inlined;                                    /* has each row an inlined hook for a single turn? */
	LLVMBasicBlockRef chunk, begin, body, late, end; /* `begin` is where a chunk's hooks join */
};

static LLVMValueRef number(const struct rows_weave *rows, int64_t value)
{
	return weave_constant(rows->weave, (uint64_t)value);
}

static void at(const struct rows_weave *rows, LLVMBasicBlockRef block, LLVMValueRef like)
{
	weave_before(rows->weave, like); /* for the place in the source */
	LLVMPositionBuilderAtEnd(rows->weave->builder, block);
}

/* ---- the blocks ---- */

static LLVMBasicBlockRef block_before(const struct rows_weave *rows, LLVMBasicBlockRef next)
{
	return LLVMInsertBasicBlockInContext(rows->weave->context, next, "");
}

static void move(const struct rows_weave *rows, LLVMValueRef instruction, LLVMBasicBlockRef to)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	LLVMInstructionRemoveFromParent(instruction);
	LLVMPositionBuilderAtEnd(rows->weave->builder, to);
	LLVMSetCurrentDebugLocation2(rows->weave->builder, location);
	LLVMInsertIntoBuilder(rows->weave->builder, instruction);
}

/* Whoever came to `from` comes to `to`. */
static void redirect(LLVMBasicBlockRef by, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
	LLVMValueRef terminator = LLVMGetBasicBlockTerminator(by);
	for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
		if (LLVMGetSuccessor(terminator, i) == from)
			LLVMSetSuccessor(terminator, i, to);
}

/* The body's own phi for one of the loop's: all that used the one use the other. */
static LLVMValueRef repeat_phi(const struct rows_weave *rows, LLVMValueRef phi)
{
	LLVMPositionBuilderBeforeInstrAndDbgRecords(rows->weave->builder,
						    LLVMGetFirstInstruction(rows->body));
	LLVMSetCurrentDebugLocation2(rows->weave->builder, LLVMInstructionGetDebugLoc(phi));
	LLVMValueRef own = LLVMBuildPhi(rows->weave->builder, LLVMTypeOf(phi), "");
	LLVMReplaceAllUsesWith(phi, own);
	LLVMAddIncoming(own, &phi, (LLVMBasicBlockRef[]){ rows->begin }, 1);
	return own;
}

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == from)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

static void split(struct rows_weave *rows)
{
	LLVMBasicBlockRef end = rows->end = rows->loop->block;
	rows->late = block_before(rows, end);
	rows->body = block_before(rows, rows->late);
	rows->begin = block_before(rows, rows->body);
	rows->chunk = block_before(rows, rows->begin);
	LLVMValueRef first = LLVMGetFirstInstruction(end);
	for (LLVMValueRef i = first, next; !LLVMIsATerminatorInst(i); i = next) {
		next = LLVMGetNextInstruction(i);
		move(rows, i, LLVMIsAPHINode(i) ? rows->chunk : rows->body);
	}
	for (unsigned i = 0; i < LLVMCountIncoming(first); i++)
		redirect(LLVMGetIncomingBlock(first, i), end, rows->chunk);
	for (LLVMValueRef phi = first; phi; phi = LLVMGetNextInstruction(phi))
		repeat_phi(rows, phi);
	for (LLVMValueRef own = LLVMGetFirstInstruction(rows->body); LLVMIsAPHINode(own);
	     own = LLVMGetNextInstruction(own)) {
		LLVMValueRef next = incoming(incoming(own, rows->begin), end);
		LLVMAddIncoming(own, &next, (LLVMBasicBlockRef[]){ rows->body }, 1);
	}
}

/* ---- hooks ---- */

/* The row's bytes in so many turns. */
static LLVMValueRef reach(const struct rows_weave *rows, const struct guard_row *row, LLVMValueRef turns)
{
	LLVMBuilderRef builder = rows->weave->builder;
	LLVMValueRef others = LLVMBuildSub(builder, turns, number(rows, 1), "");
	others = LLVMBuildMul(builder, others, number(rows, row->step), "");
	return LLVMBuildAdd(builder, others, number(rows, row->extent), "");
}

static void note(const struct rows_weave *rows, const struct guard_row *row, uint32_t site,
		 LLVMValueRef address, LLVMValueRef turns)
{
	struct weave *weave = rows->weave;
	uint32_t grain = guard_set_site(weave->options->guard, site)->grain;
	LLVMValueRef named = number(rows, site), shift = number(rows, guard_shift(grain));
	if (!turns) {
		guard_call_inlined(weave, guard_inlined(row->extent, grain, site),
				   (LLVMValueRef[]){ address, named, shift }, 3);
	} else if (row->step == 0 || row->step == (int64_t)row->extent) {
		LLVMValueRef n = number(rows, row->extent / grain);
		if (row->step)
			n = LLVMBuildMul(weave->builder, n, turns, "");
		guard_call(weave, "unsnarl_guard_row", (LLVMValueRef[]){ address, n, named, shift }, 4);
	} else {
		LLVMValueRef form = number(rows, row->step << 32 | row->extent);
		named = number(rows, (int64_t)site << 8 | guard_shift(grain));
		guard_call(weave, "unsnarl_guard_strided", (LLVMValueRef[]){ address, turns, form, named },
			   4);
	}
}

/* How many turns are left, this one among them. */
static LLVMValueRef turns_left(const struct rows_weave *rows)
{
	const struct row_loop *loop = rows->loop;
	LLVMBuilderRef builder = rows->weave->builder;
	LLVMValueRef now = affine_build(rows->weave, rows->body, loop->moving);
	LLVMValueRef way = LLVMBuildSub(builder, loop->limit, now, "");
	way = LLVMBuildZExtOrBitCast(builder, way, rows->weave->i64, "");
	LLVMValueRef more = way;
	if (loop->stride > 1) {
		more = LLVMBuildAdd(builder, way, number(rows, loop->stride - 1), "");
		more = LLVMBuildUDiv(builder, more, number(rows, loop->stride), "");
	}
	if (!loop->until_equal) {
		LLVMValueRef below = LLVMBuildICmp(builder, loop->is_signed ? LLVMIntSLT : LLVMIntULT, now,
						   loop->limit, "");
		more = LLVMBuildSelect(builder, below, more, number(rows, 0), "");
	}
	return LLVMBuildAdd(builder, more, number(rows, 1), "");
}

/* Do two of the rows meet that must not? */
static LLVMValueRef meeting(const struct rows_weave *rows, LLVMValueRef *addresses, LLVMValueRef turns)
{
	const struct row_loop *loop = rows->loop;
	LLVMBuilderRef builder = rows->weave->builder;
	LLVMValueRef any = LLVMConstInt(LLVMInt1TypeInContext(rows->weave->context), 0, 0);
	for (uint32_t i = 0; i < loop->nchecks; i++) {
		uint32_t a = loop->checks[i].a, b = loop->checks[i].b;
		LLVMValueRef a_end =
			LLVMBuildAdd(builder, addresses[a], reach(rows, &loop->rows[a], turns), "");
		LLVMValueRef b_end =
			LLVMBuildAdd(builder, addresses[b], reach(rows, &loop->rows[b], turns), "");
		LLVMValueRef both =
			LLVMBuildAnd(builder, LLVMBuildICmp(builder, LLVMIntULT, addresses[a], b_end, ""),
				     LLVMBuildICmp(builder, LLVMIntULT, addresses[b], a_end, ""), "");
		any = LLVMBuildOr(builder, any, both, "");
	}
	return any;
}

/* Notes all rows in `block`, the late ones or the others, and goes on to `next`. */
static void note_all(const struct rows_weave *rows, LLVMBasicBlockRef block, bool late,
		     LLVMValueRef *addresses, LLVMValueRef turns, LLVMBasicBlockRef next)
{
	for (uint32_t i = 0; i < rows->loop->n; i++) {
		const struct guard_row *row = &rows->loop->rows[i];
		if (!row_speaks(row) || (late && !row->late))
			continue;
		at(rows, block, row->instruction);
		note(rows, row, late ? row->late : row->site, addresses[i], turns);
	}
	LLVMPositionBuilderAtEnd(rows->weave->builder, block);
	LLVMBuildBr(rows->weave->builder, next);
}

static LLVMValueRef least(const struct rows_weave *rows, LLVMValueRef a, int64_t b)
{
	LLVMBuilderRef builder = rows->weave->builder;
	LLVMValueRef less = LLVMBuildICmp(builder, LLVMIntULT, a, number(rows, b), "");
	return LLVMBuildSelect(builder, less, a, number(rows, b), "");
}

/* Returns how many turns were looked at. */
static LLVMValueRef weave_chunk(const struct rows_weave *rows)
{
	const struct row_loop *loop = rows->loop;
	LLVMBuilderRef builder = rows->weave->builder;
	LLVMValueRef addresses[ROWS_MOST] = { NULL };
	LLVMPositionBuilderAtEnd(builder, rows->chunk);
	LLVMSetCurrentDebugLocation2(builder, NULL);
	LLVMValueRef left = turns_left(rows);
	for (uint32_t i = 0; i < loop->n; i++) {
		if (!row_speaks(&loop->rows[i]))
			continue;
		LLVMValueRef first = affine_build(rows->weave, rows->body, loop->rows[i].pointer);
		addresses[i] = LLVMBuildPtrToInt(builder, first, rows->weave->i64, "");
	}
	LLVMBasicBlockRef several = block_before(rows, rows->begin), one = block_before(rows, several),
			  compare = block_before(rows, one);
	LLVMValueRef few =
		LLVMBuildICmp(builder, LLVMIntULT, left, number(rows, rows->inlined ? FEWEST_TURNS : 2), "");
	LLVMBuildCondBr(builder, few, one, compare);
	LLVMPositionBuilderAtEnd(builder, compare);
	LLVMValueRef turns[] = { number(rows, 1), least(rows, left, ROW_TURNS) };
	LLVMBuildCondBr(builder, meeting(rows, addresses, turns[1]), one, several);
	note_all(rows, one, false, addresses, rows->inlined ? NULL : turns[0], rows->begin);
	note_all(rows, several, false, addresses, turns[1], rows->begin);
	LLVMPositionBuilderAtEnd(builder, rows->begin);
	LLVMSetCurrentDebugLocation2(builder, NULL);
	LLVMValueRef taken = LLVMBuildPhi(builder, rows->weave->i64, "");
	LLVMAddIncoming(taken, turns, (LLVMBasicBlockRef[]){ one, several }, 2);
	LLVMBuildBr(builder, rows->body);
	return taken;
}

/* So many turns of the body, then `next`: until then the loop's own condition would have held. */
static void weave_body(const struct rows_weave *rows, LLVMValueRef turns, LLVMBasicBlockRef next)
{
	LLVMBuilderRef builder = rows->weave->builder;
	LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, LLVMGetFirstInstruction(rows->body));
	LLVMSetCurrentDebugLocation2(builder, NULL);
	LLVMValueRef left = LLVMBuildPhi(builder, rows->weave->i64, "");
	LLVMPositionBuilderAtEnd(builder, rows->body);
	LLVMValueRef less = LLVMBuildSub(builder, left, number(rows, 1), "");
	LLVMAddIncoming(left, (LLVMValueRef[]){ turns, less },
			(LLVMBasicBlockRef[]){ rows->begin, rows->body }, 2);
	LLVMValueRef done = LLVMBuildICmp(builder, LLVMIntEQ, less, number(rows, 0), "");
	LLVMBuildCondBr(builder, done, next, rows->body);
}

/* Behind the last turn that was looked at: the addresses are of that turn, and the first lies as many steps before. */
static void weave_late(const struct rows_weave *rows, LLVMValueRef turns)
{
	const struct row_loop *loop = rows->loop;
	LLVMBuilderRef builder = rows->weave->builder;
	LLVMValueRef last[ROWS_MOST] = { NULL }, first[ROWS_MOST] = { NULL };
	LLVMBasicBlockRef several = block_before(rows, rows->end), one = block_before(rows, several);
	LLVMPositionBuilderAtEnd(builder, rows->late);
	LLVMSetCurrentDebugLocation2(builder, NULL);
	for (uint32_t i = 0; i < loop->n; i++)
		if (row_speaks(&loop->rows[i]) && loop->rows[i].late)
			last[i] = LLVMBuildPtrToInt(builder, loop->rows[i].pointer, rows->weave->i64, "");
	LLVMValueRef is_one = LLVMBuildICmp(builder, LLVMIntEQ, turns, number(rows, 1), "");
	LLVMBuildCondBr(builder, is_one, one, several);
	LLVMPositionBuilderAtEnd(builder, several);
	LLVMValueRef others = LLVMBuildSub(builder, turns, number(rows, 1), "");
	for (uint32_t i = 0; i < loop->n; i++)
		if (last[i])
			first[i] = LLVMBuildSub(
				builder, last[i],
				LLVMBuildMul(builder, others, number(rows, loop->rows[i].step), ""), "");
	note_all(rows, one, true, last, rows->inlined ? NULL : number(rows, 1), rows->end);
	note_all(rows, several, true, first, turns, rows->end);
}

static void weave_loop(struct weave *weave, const struct row_loop *loop)
{
	struct rows_weave rows = { .weave = weave, .loop = loop, .inlined = true };
	bool late = false;
	weave->function = loop->function;
	for (uint32_t i = 0; i < loop->n; i++) {
		const struct guard_row *row = &loop->rows[i];
		uint32_t grain = guard_set_site(weave->options->guard, row->site)->grain;
		if (!row_speaks(row))
			continue;
		late |= row->late != 0;
		rows.inlined &= guard_inlined(row->extent, grain, row->site) &&
				(!row->late || guard_inlined(row->extent, grain, row->late));
	}
	split(&rows);
	LLVMValueRef turns = weave_chunk(&rows);
	weave_body(&rows, turns, late ? rows.late : rows.end);
	if (late)
		weave_late(&rows, turns);
	else
		LLVMDeleteBasicBlock(rows.late);
}

void guard_rows_weave(struct weave *weave, const struct guarded_unit *unit)
{
	for (size_t i = 0; i < unit->loops.n; i++)
		weave_loop(weave, &unit->loops.items[i]);
}
