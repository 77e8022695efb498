/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Vector registers in VEX IR, before anything is woven in. A scalar move into one is two
 * PUTs there, zeros for the whole and then the low lane, and who reads the whole next
 * waits until both have reached the cache: a dozen cycles. Here it becomes one PUT of a
 * widened value, which is handed on inside of the block, and PUTs that are overwritten
 * unseen are dropped. Memory accesses may see an older register, as with VEX's own
 * removal of PUTs, so runs that have to see all registers are left alone. */
#include "loom/grind/define.h"

#define NREGISTERS 16
#define FIRST ((Int)offsetof(VexGuestAMD64State, guest_YMM0))
#define STEP ((Int)(offsetof(VexGuestAMD64State, guest_YMM1) - offsetof(VexGuestAMD64State, guest_YMM0)))

struct lanes {
	IRSB *out;
	struct {
		IRExpr *whole; /* the low 16 bytes; NULL: not known */
		IRExpr *low;   /* of which all but this are zeros; NULL: not known */
		Int zeroed;    /* the statement that put zeros there, which nobody has seen; -1: none */
	} registers[NREGISTERS];
};

static void forget_all(struct lanes *l)
{
	for (Int i = 0; i < NREGISTERS; i++) {
		l->registers[i].whole = l->registers[i].low = NULL;
		l->registers[i].zeroed = -1;
	}
}

/* Everything may be seen from here on. */
static void show_all(struct lanes *l)
{
	for (Int i = 0; i < NREGISTERS; i++)
		l->registers[i].zeroed = -1;
}

/* The register that lies there; -1: none. */
static Int register_at(Int offset)
{
	return offset >= FIRST && offset < FIRST + NREGISTERS * STEP ? (offset - FIRST) / STEP : -1;
}

static bool is_base(Int offset)
{
	return (offset - FIRST) % STEP == 0;
}

static bool is_zero(const IRExpr *atom)
{
	return atom->tag == Iex_Const && atom->Iex.Const.con->tag == Ico_V128 &&
	       atom->Iex.Const.con->Ico.V128 == 0;
}

static IRExpr *fresh(struct lanes *l, IRType type, IROp op, IRExpr *value)
{
	IRTemp temp = newIRTemp(l->out->tyenv, type);

	addStmtToIRSB(l->out, IRStmt_WrTmp(temp, IRExpr_Unop(op, value)));
	return IRExpr_RdTmp(temp);
}

/* The value with zeros above; NULL: it is none that can be widened. */
static IRExpr *widened(struct lanes *l, IRExpr *value)
{
	switch (typeOfIRExpr(l->out->tyenv, value)) {
	case Ity_F64:
		value = fresh(l, Ity_I64, Iop_ReinterpF64asI64, value);
		return fresh(l, Ity_V128, Iop_64UtoV128, value);
	case Ity_I64:
		return fresh(l, Ity_V128, Iop_64UtoV128, value);
	case Ity_F32:
		value = fresh(l, Ity_I32, Iop_ReinterpF32asI32, value);
		return fresh(l, Ity_V128, Iop_32UtoV128, value);
	case Ity_I32:
		return fresh(l, Ity_V128, Iop_32UtoV128, value);
	default:
		return NULL;
	}
}

static void put(struct lanes *l, IRStmt *st)
{
	Int at = register_at(st->Ist.Put.offset);
	IRExpr *value = st->Ist.Put.data, *whole = NULL, *low = NULL;

	if (at < 0) {
		addStmtToIRSB(l->out, st);
		return;
	}
	Int zeroed = l->registers[at].zeroed;

	if (is_base(st->Ist.Put.offset)) {
		if (zeroed >= 0 && (whole = widened(l, value))) {
			low = value;
			l->out->stmts[zeroed] = IRStmt_NoOp();
			st = IRStmt_Put(st->Ist.Put.offset, whole);
		} else if (typeOfIRExpr(l->out->tyenv, value) == Ity_V128) {
			whole = value;
		}
	}
	l->registers[at].whole = whole;
	l->registers[at].low = low;
	l->registers[at].zeroed = whole && is_zero(whole) ? l->out->stmts_used : -1;
	addStmtToIRSB(l->out, st);
}

static void get(struct lanes *l, IRStmt *st)
{
	const IRExpr *from = st->Ist.WrTmp.data;
	Int at = register_at(from->Iex.Get.offset);
	IRExpr *known = NULL;

	if (at >= 0) {
		l->registers[at].zeroed = -1;
		if (is_base(from->Iex.Get.offset) && from->Iex.Get.ty == Ity_V128)
			known = l->registers[at].whole;
		else if (is_base(from->Iex.Get.offset) && l->registers[at].low &&
			 typeOfIRExpr(l->out->tyenv, l->registers[at].low) == from->Iex.Get.ty)
			known = l->registers[at].low;
	}
	addStmtToIRSB(l->out, known ? IRStmt_WrTmp(st->Ist.WrTmp.tmp, known) : st);
}

static void handed_on(struct lanes *l, IRStmt *st)
{
	switch (st->tag) {
	case Ist_Put:
		put(l, st);
		return;
	case Ist_WrTmp:
		if (st->Ist.WrTmp.data->tag == Iex_Get) {
			get(l, st);
			return;
		}
		if (st->Ist.WrTmp.data->tag == Iex_GetI)
			show_all(l);
		break;
	case Ist_Exit:
		show_all(l);
		break;
	case Ist_PutI:
	case Ist_Dirty:
		forget_all(l);
		break;
	default:
		break;
	}
	addStmtToIRSB(l->out, st);
}

/* From the end of the block on: is the register written as a whole before anybody can see it? */
static void drop_unseen(IRSB *out)
{
	bool unseen[NREGISTERS] = { false };

	for (Int i = out->stmts_used - 1; i >= 0; i--) {
		IRStmt *st = out->stmts[i];
		bool gets = st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_Get;
		Int at = gets                 ? register_at(st->Ist.WrTmp.data->Iex.Get.offset)
			 : st->tag == Ist_Put ? register_at(st->Ist.Put.offset)
					      : -1;

		if (gets && at >= 0) {
			unseen[at] = false;
		} else if (at >= 0 && is_base(st->Ist.Put.offset) &&
			   typeOfIRExpr(out->tyenv, st->Ist.Put.data) == Ity_V128) {
			if (unseen[at])
				out->stmts[i] = IRStmt_NoOp();
			unseen[at] = true;
		} else if (st->tag == Ist_Exit || st->tag == Ist_Dirty || st->tag == Ist_PutI ||
			   (st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_GetI)) {
			VG_(memset)(unseen, 0, sizeof unseen);
		}
	}
}

static bool writes_lanes(const IRSB *in)
{
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i]->tag == Ist_Put && register_at(in->stmts[i]->Ist.Put.offset) >= 0)
			return true;
	return false;
}

IRSB *with_whole_lanes(IRSB *in)
{
	struct lanes l;

	if (define.on || VG_(clo_vgdb) || !writes_lanes(in))
		return in;
	l.out = deepCopyIRSBExceptStmts(in);
	forget_all(&l);
	for (Int i = 0; i < in->stmts_used; i++)
		handed_on(&l, in->stmts[i]);
	drop_unseen(l.out);
	return l.out;
}
