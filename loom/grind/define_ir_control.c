/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where control goes, in VEX IR: branches, calls, returns and jumps through registers ask
 * a helper first, which says where they go. */
#include "loom/grind/define_ir.h"

Addr define_ir_constant(const IRExpr *e)
{
	return e->tag == Iex_Const && e->Iex.Const.con->tag == Ico_U64 ? e->Iex.Const.con->Ico.U64 : 0;
}

void define_ir_branch(struct marking *m, IRStmt *st, bool last)
{
	IRExpr *mark = define_ir_mark_of(m, st->Ist.Exit.guard);

	if (define_ir_is_none(mark) || st->Ist.Exit.jk != Ijk_Boring) {
		addStmtToIRSB(m->out, st);
		return;
	}
	struct value_site *site = define_ir_site(m, 0);

	site->target = st->Ist.Exit.dst->Ico.U64;
	site->beside = last ? define_ir_constant(m->in->next) : m->pc + m->length;
	IRExpr *guard = define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_1Uto64, st->Ist.Exit.guard));
	IRExpr *goes = define_ir_ask(m, "suppress_branch", (void *)suppress_branch,
				     mkIRExprVec_3(guard, mark, define_ir_word((Addr)site)));
	IRExpr *taken = define_ir_fresh(m, Ity_I1, IRExpr_Binop(Iop_CmpNE64, goes, define_ir_word(0)));

	addStmtToIRSB(m->out, IRStmt_Exit(taken, st->Ist.Exit.jk, st->Ist.Exit.dst, st->Ist.Exit.offsIP));
}

/* What all of them are marked with; each of them is kept, too. */
static IRExpr *argument_marks(struct marking *m)
{
	static const Int passed[PASSED] = { offsetof(VexGuestAMD64State, guest_RDI),
					    offsetof(VexGuestAMD64State, guest_RSI),
					    offsetof(VexGuestAMD64State, guest_RDX) };
	IRExpr *all = define_ir_word(0);

	for (UInt i = 0; i < PASSED; i++) {
		IRExpr *mark = define_ir_register(m, passed[i], Ity_I64);
		IRExpr *value = define_ir_fresh(m, Ity_I64, IRExpr_Get(passed[i], Ity_I64));

		addStmtToIRSB(m->out,
			      IRStmt_Store(Iend_LE, define_ir_word((Addr)&define.passed.marks[i]), mark));
		addStmtToIRSB(m->out,
			      IRStmt_Store(Iend_LE, define_ir_word((Addr)&define.passed.values[i]), value));
		all = define_ir_fresh(m, Ity_I64, IRExpr_Binop(Iop_Or64, all, mark));
	}
	return all;
}

static void call_end(struct marking *m, IRExpr *sp, IRExpr *target)
{
	Int rax = define_ir_place(m, offsetof(VexGuestAMD64State, guest_RAX));
	IRExpr *next = define_ir_ask(m, "suppress_call", (void *)suppress_call,
				     mkIRExprVec_5(target, define_ir_mark_of(m, target), argument_marks(m),
						   define_ir_word((Addr)define_ir_site(m, 8)), sp));
	IRExpr *skipped = define_ir_fresh(m, Ity_I1,
					  IRExpr_Binop(Iop_CmpEQ64, next, define_ir_word(m->pc + m->length)));
	IRExpr *popped = define_ir_fresh(m, Ity_I64, IRExpr_Binop(Iop_Add64, sp, define_ir_word(8)));
	IRExpr *old = define_ir_fresh(m, Ity_I64, IRExpr_Get(rax, Ity_I64));

	addStmtToIRSB(m->out, IRStmt_Put(m->layout->offset_SP,
					 define_ir_fresh(m, Ity_I64, IRExpr_ITE(skipped, popped, sp))));
	addStmtToIRSB(
		m->out,
		IRStmt_Put(rax, define_ir_fresh(m, Ity_I64,
						IRExpr_ITE(skipped, define_ir_word(MARK_SUPPRESSED), old))));
	m->out->next = next;
}

/* Registers that a callee may use as it likes have no meaning after it. */
static void return_end(struct marking *m, IRExpr *sp, IRExpr *target)
{
	static const Int dead[] = {
		offsetof(VexGuestAMD64State, guest_RCX), offsetof(VexGuestAMD64State, guest_RSI),
		offsetof(VexGuestAMD64State, guest_RDI), offsetof(VexGuestAMD64State, guest_R8),
		offsetof(VexGuestAMD64State, guest_R9),  offsetof(VexGuestAMD64State, guest_R10),
		offsetof(VexGuestAMD64State, guest_R11)
	};

	m->out->next = define_ir_ask(m, "suppress_return", (void *)suppress_return,
				     mkIRExprVec_4(target, define_ir_mark_of(m, target),
						   define_ir_word((Addr)define_ir_site(m, 8)), sp));
	for (size_t i = 0; i < sizeof dead / sizeof *dead; i++)
		addStmtToIRSB(m->out, IRStmt_Put(define_ir_place(m, dead[i]), define_ir_word(0)));
}

void define_ir_end(struct marking *m)
{
	IRExpr *target = m->in->next;

	if (m->in->jumpkind == Ijk_Call || m->in->jumpkind == Ijk_Ret) {
		IRExpr *sp = define_ir_fresh(m, Ity_I64, IRExpr_Get(m->layout->offset_SP, Ity_I64));

		if (m->in->jumpkind == Ijk_Call)
			call_end(m, sp, target);
		else
			return_end(m, sp, target);
	} else if (m->in->jumpkind == Ijk_Boring && target->tag == Iex_RdTmp) {
		m->out->next = define_ir_ask(m, "suppress_jump", (void *)suppress_jump,
					     mkIRExprVec_3(target, define_ir_mark_of(m, target),
							   define_ir_word((Addr)define_ir_site(m, 8))));
	}
}
