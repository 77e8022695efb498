/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values of which only a part is kept, in VEX IR: what a temporary is the low part of, and
 * where a helper is asked because that is made a number again, or left its 32 bits. */
#include "loom/grind/define_ir.h"

bool define_ir_is_register(Int offset)
{
	return offset < (Int)offsetof(VexGuestAMD64State, guest_CC_OP);
}

/* Where it is kept whether a register was last written in part only: then the rest of it is no part of the value. */
Int define_ir_partly(const struct marking *m, Int offset)
{
	return 2 * m->layout->total_sizeB + (offset & ~7);
}

IRExpr *define_ir_whole(const struct marking *m, const IRExpr *atom)
{
	return atom->tag == Iex_RdTmp ? m->whole[atom->Iex.RdTmp.tmp] : NULL;
}

/* Where it is not known what a value is a part of, it is none. */
IRExpr *define_ir_alone(struct marking *m, IRExpr *data)
{
	switch (typeOfIRExpr(m->out->tyenv, data)) {
	case Ity_I32:
		return define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_32Sto64, data));
	case Ity_I16:
		return define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_16Sto64, data));
	case Ity_I8:
		return define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_8Sto64, data));
	default:
		return define_ir_word(0);
	}
}

/* Asks the helper about a value, and what is left of it, only when that has other bits than 0 beyond so many bytes. */
static void look_at_cut(struct marking *m, IRExpr *full, IRExpr *mark, Int size)
{
	if (define_ir_is_none(mark) || code_kind(m->pc) != CODE_PROGRAM)
		return;
	IRExpr *beyond = define_ir_fresh(
		m, Ity_I64, IRExpr_Binop(Iop_Shr64, full, IRExpr_Const(IRConst_U8((UChar)(8 * size)))));
	IRDirty *dirty =
		unsafeIRDirty_0_N(3, "define_cut", VG_(fnptr_to_fnentry)((void *)define_cut),
				  mkIRExprVec_3(full, mark, define_ir_word((Addr)define_ir_site(m, size))));

	dirty->guard = define_ir_fresh(m, Ity_I1, IRExpr_Binop(Iop_CmpNE64, beyond, define_ir_word(0)));
	addStmtToIRSB(m->out, IRStmt_Dirty(dirty));
}

/* The part of a register, as a whole; 0 where it was written only in part. */
static IRExpr *whole_register(struct marking *m, Int offset)
{
	IRExpr *partly = define_ir_fresh(m, Ity_I64, IRExpr_Get(define_ir_partly(m, offset), Ity_I64));
	IRExpr *is_partly = define_ir_fresh(m, Ity_I1, IRExpr_Binop(Iop_CmpNE64, partly, define_ir_word(0)));
	IRExpr *all = define_ir_fresh(m, Ity_I64, IRExpr_Get(offset, Ity_I64));

	return define_ir_fresh(m, Ity_I64, IRExpr_ITE(is_partly, define_ir_word(0), all));
}

static Int narrowed_to(IROp op)
{
	return op == Iop_64to32                       ? 4
	       : op == Iop_64to16 || op == Iop_32to16 ? 2
	       : op == Iop_64to8 || op == Iop_32to8   ? 1
						      : 0;
}

static Int widened_from(IROp op)
{
	switch (op) {
	case Iop_8Uto32:
	case Iop_8Sto32:
	case Iop_8Uto64:
	case Iop_8Sto64:
		return 1;
	case Iop_16Uto32:
	case Iop_16Sto32:
	case Iop_16Uto64:
	case Iop_16Sto64:
		return 2;
	case Iop_32Uto64:
	case Iop_32Sto64:
		return 4;
	default:
		return 0;
	}
}

/* What becomes of 32 bits without that limit, of a product, a shift to the left or a difference; of 64 bits the difference.
 * *size: that are kept of it. */
static IRExpr *unlimited(struct marking *m, const IRExpr *e, Int *size)
{
	IRExpr *first = e->Iex.Binop.arg1, *second = e->Iex.Binop.arg2;
	IROp op = e->Iex.Binop.op == Iop_Shl32                                   ? Iop_Shl64
		  : e->Iex.Binop.op == Iop_Mul32                                 ? Iop_Mul64
		  : e->Iex.Binop.op == Iop_Sub32 || e->Iex.Binop.op == Iop_Sub64 ? Iop_Sub64
										 : Iop_INVALID;

	if (op == Iop_INVALID)
		return NULL;
	*size = e->Iex.Binop.op == Iop_Sub64 ? 8 : 4;
	if (*size < 8) {
		first = define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_32Sto64, first));
		second = op == Iop_Shl64 ? second
					 : define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_32Sto64, second));
	}
	return define_ir_fresh(m, Ity_I64, IRExpr_Binop(op, first, second));
}

static bool widens_with_sign(IROp op)
{
	return op == Iop_8Sto32 || op == Iop_8Sto64 || op == Iop_16Sto32 || op == Iop_16Sto64 ||
	       op == Iop_32Sto64;
}

/* A value is widened with its sign: at its load, or later when it is in a register. */
static void note_sign(struct marking *m, const IRExpr *arg, IRExpr *mark)
{
	if (arg->tag == Iex_RdTmp && arg->Iex.RdTmp.tmp == m->loaded)
		m->loading->with_sign = m->pc;
	else if (!define_ir_is_none(mark))
		addStmtToIRSB(m->out, IRStmt_Dirty(unsafeIRDirty_0_N(
					      2, "define_read_with_sign",
					      VG_(fnptr_to_fnentry)((void *)define_read_with_sign),
					      mkIRExprVec_2(mark, define_ir_word(m->pc)))));
}

/* Remembers of what a temporary is a part, and looks at what is made whole again without what it had lost. */
void define_ir_note_whole(struct marking *m, IRTemp temp, const IRExpr *e)
{
	if (e->tag == Iex_Get && define_ir_is_register(e->Iex.Get.offset) && e->Iex.Get.offset % 8 == 0 &&
	    (e->Iex.Get.ty == Ity_I8 || e->Iex.Get.ty == Ity_I16)) {
		m->whole[temp] = whole_register(m, e->Iex.Get.offset);
	} else if (e->tag == Iex_Unop && narrowed_to(e->Iex.Unop.op)) {
		IRExpr *arg = e->Iex.Unop.arg;

		m->whole[temp] = typeOfIRExpr(m->out->tyenv, arg) == Ity_I64
					 ? arg
					 : define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_32Uto64, arg));
	} else if (e->tag == Iex_Unop && widened_from(e->Iex.Unop.op) &&
		   define_ir_whole(m, e->Iex.Unop.arg)) {
		look_at_cut(m, define_ir_whole(m, e->Iex.Unop.arg), m->marks[temp],
			    widened_from(e->Iex.Unop.op));
	} else if (e->tag == Iex_Binop) {
		Int size = 0;
		IRExpr *full = unlimited(m, e, &size);

		if (full)
			look_at_cut(m, full, m->marks[temp], size);
	}
	if (e->tag == Iex_Unop && widens_with_sign(e->Iex.Unop.op))
		note_sign(m, e->Iex.Unop.arg, m->marks[temp]);
}
