/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Marks of temporaries and registers in VEX IR. The mark of a register lies in the
 * shadow state of the thread, at the register's offset; a temporary has a second one
 * for its mark. Loads and stores ask a helper first, which says where they go. Stack
 * pointer and program counter have no mark. */
#include "loom/grind/define_ir.h"

IRExpr *define_ir_word(uint64_t value)
{
	return IRExpr_Const(IRConst_U64(value));
}

bool define_ir_is_none(const IRExpr *mark)
{
	return mark->tag == Iex_Const;
}

IRExpr *define_ir_fresh(struct marking *m, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(m->out->tyenv, type);

	addStmtToIRSB(m->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

IRExpr *define_ir_ask(struct marking *m, const HChar *name, void *function, IRExpr **args)
{
	IRTemp temp = newIRTemp(m->out->tyenv, Ity_I64);

	addStmtToIRSB(m->out,
		      IRStmt_Dirty(unsafeIRDirty_1_N(temp, 0, name, VG_(fnptr_to_fnentry)(function), args)));
	return IRExpr_RdTmp(temp);
}

IRExpr *define_ir_mark_of(const struct marking *m, const IRExpr *atom)
{
	if (atom->tag == Iex_RdTmp && m->marks[atom->Iex.RdTmp.tmp])
		return m->marks[atom->Iex.RdTmp.tmp];
	return define_ir_word(0);
}

static IRExpr *computed(struct marking *m, IRExpr *mark)
{
	return define_ir_is_none(mark)
		       ? mark
		       : define_ir_fresh(m, Ity_I64,
					 IRExpr_Binop(Iop_And64, mark, define_ir_word(~MARK_COPY)));
}

static IRExpr *merged(struct marking *m, IRExpr *a, IRExpr *b)
{
	if (define_ir_is_none(a))
		return computed(m, b);
	if (define_ir_is_none(b))
		return computed(m, a);
	return define_ir_fresh(m, Ity_I64,
			       mkIRExprCCall(Ity_I64, 2, "define_merge",
					     VG_(fnptr_to_fnentry)((void *)define_merge),
					     mkIRExprVec_2(a, b)));
}

static bool has_mark(Int offset)
{
	return offset != offsetof(VexGuestAMD64State, guest_RSP) &&
	       offset != offsetof(VexGuestAMD64State, guest_RIP) &&
	       (offset < (Int)offsetof(VexGuestAMD64State, guest_CC_OP) + 32 ||
		(offset >= (Int)offsetof(VexGuestAMD64State, guest_YMM0) &&
		 offset < (Int)(offsetof(VexGuestAMD64State, guest_YMM16) + 32)));
}

Int define_ir_place(const struct marking *m, Int offset)
{
	return m->layout->total_sizeB + (offset & ~7);
}

IRExpr *define_ir_register(struct marking *m, Int offset, IRType type)
{
	if (!has_mark(offset))
		return define_ir_word(0);
	IRExpr *mark = define_ir_fresh(m, Ity_I64, IRExpr_Get(define_ir_place(m, offset), Ity_I64));

	for (Int i = 8; i < sizeofIRType(type); i += 8)
		mark = merged(
			m, mark,
			define_ir_fresh(m, Ity_I64, IRExpr_Get(define_ir_place(m, offset + i), Ity_I64)));
	return mark;
}

/* Is it a register for values? The frame pointer only says where a frame is. */
static bool is_general(Int offset, const IRExpr *data)
{
	return define_ir_is_register(offset) &&
	       (offset != offsetof(VexGuestAMD64State, guest_RBP) || data->tag == Iex_Const);
}

static void put_mark(struct marking *m, Int offset, const IRExpr *data)
{
	Int size = sizeofIRType(typeOfIRExpr(m->in->tyenv, data));
	IRExpr *mark = define_ir_mark_of(m, data);

	if (!has_mark(offset))
		return;
	if (define_ir_is_register(offset))
		addStmtToIRSB(m->out, IRStmt_Put(define_ir_partly(m, offset), define_ir_word(size < 4)));
	if (define_ir_is_none(mark) && size >= 4 && is_general(offset, data))
		mark = define_ir_word(define_maker(m->pc));
	if (size < 4)
		mark = merged(m, mark, define_ir_register(m, offset, Ity_I64));
	for (Int i = 0; i < size; i += 8)
		addStmtToIRSB(m->out, IRStmt_Put(define_ir_place(m, offset + i), mark));
}

/* Does it pass on what it gets, perhaps cut or widened? */
static bool is_copy(IROp op)
{
	switch (op) {
	case Iop_64to32:
	case Iop_64to16:
	case Iop_64to8:
	case Iop_32Uto64:
	case Iop_32Sto64:
	case Iop_16Uto64:
	case Iop_16Sto64:
	case Iop_8Uto64:
	case Iop_8Sto64:
	case Iop_8Uto32:
	case Iop_8Sto32:
	case Iop_16Uto32:
	case Iop_16Sto32:
	case Iop_32to8:
	case Iop_32to16:
	case Iop_64UtoV128:
	case Iop_32UtoV128:
	case Iop_V128to64:
	case Iop_V128to32:
	case Iop_ReinterpF64asI64:
	case Iop_ReinterpI64asF64:
		return true;
	default:
		return false;
	}
}

static bool divides(IROp op)
{
	return op == Iop_DivModU64to32 || op == Iop_DivModS64to32 || op == Iop_DivModU128to64 ||
	       op == Iop_DivModS128to64 || op == Iop_DivU32 || op == Iop_DivS32 || op == Iop_DivU64 ||
	       op == Iop_DivS64;
}

struct value_site *define_ir_site(const struct marking *m, Int size)
{
	return define_site(m->pc, (uint32_t)size, m->pc + m->length);
}

static IRExpr *binary_mark(struct marking *m, const IRExpr *e)
{
	IRExpr *second = define_ir_mark_of(m, e->Iex.Binop.arg2);

	if (divides(e->Iex.Binop.op)) {
		IRDirty *dirty =
			unsafeIRDirty_0_N(2, "define_operand", VG_(fnptr_to_fnentry)((void *)define_operand),
					  mkIRExprVec_2(second, define_ir_word((Addr)define_ir_site(m, 8))));

		addStmtToIRSB(m->out, IRStmt_Dirty(dirty));
	}
	return merged(m, define_ir_mark_of(m, e->Iex.Binop.arg1), second);
}

static IRExpr *expression_mark(struct marking *m, const IRExpr *e)
{
	IRExpr *mark = define_ir_word(0);

	switch (e->tag) {
	case Iex_RdTmp:
		return define_ir_mark_of(m, e);
	case Iex_Get:
		return define_ir_register(m, e->Iex.Get.offset, e->Iex.Get.ty);
	case Iex_Unop:
		mark = define_ir_mark_of(m, e->Iex.Unop.arg);
		return is_copy(e->Iex.Unop.op) ? mark : computed(m, mark);
	case Iex_Binop:
		return binary_mark(m, e);
	case Iex_Triop:
		return merged(m, define_ir_mark_of(m, e->Iex.Triop.details->arg2),
			      define_ir_mark_of(m, e->Iex.Triop.details->arg3));
	case Iex_Qop:
		mark = merged(m, define_ir_mark_of(m, e->Iex.Qop.details->arg2),
			      define_ir_mark_of(m, e->Iex.Qop.details->arg3));
		return merged(m, mark, define_ir_mark_of(m, e->Iex.Qop.details->arg4));
	case Iex_CCall:
		for (Int i = 0; e->Iex.CCall.args[i]; i++)
			mark = merged(m, mark, define_ir_mark_of(m, e->Iex.CCall.args[i]));
		return mark;
	case Iex_ITE: {
		IRExpr *yes = define_ir_mark_of(m, e->Iex.ITE.iftrue),
		       *no = define_ir_mark_of(m, e->Iex.ITE.iffalse);

		if (!define_ir_is_none(yes) || !define_ir_is_none(no))
			mark = define_ir_fresh(m, Ity_I64, IRExpr_ITE(e->Iex.ITE.cond, yes, no));
		IRExpr *cond = define_ir_mark_of(m, e->Iex.ITE.cond);

		return define_ir_is_none(cond) ? mark : merged(m, mark, cond);
	}
	default:
		return mark;
	}
}

/* ---- memory ---- */

static IRExpr *result_mark(struct marking *m)
{
	return define_ir_fresh(m, Ity_I64,
			       IRExpr_Load(Iend_LE, Ity_I64, define_ir_word((Addr)&define.result)));
}

static IRExpr *load_at(struct marking *m, IRExpr *address, IRExpr *mark, Int size)
{
	m->loading = define_ir_site(m, size);
	return define_ir_ask(m, "define_load", (void *)define_load,
			     mkIRExprVec_3(address, mark, define_ir_word((Addr)m->loading)));
}

static IRExpr *as_word(struct marking *m, IRExpr *data)
{
	switch (typeOfIRExpr(m->out->tyenv, data)) {
	case Ity_I64:
		return data;
	case Ity_I32:
		return define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_32Uto64, data));
	case Ity_I16:
		return define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_16Uto64, data));
	case Ity_I8:
		return define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_8Uto64, data));
	case Ity_F64:
		return define_ir_fresh(m, Ity_I64, IRExpr_Unop(Iop_ReinterpF64asI64, data));
	default:
		return define_ir_word(0);
	}
}

static Int size_of(const struct marking *m, const IRExpr *data)
{
	return sizeofIRType(typeOfIRExpr(m->in->tyenv, data));
}

static IRExpr *store_at(struct marking *m, IRExpr *address, IRExpr *mark, IRExpr *data)
{
	IRExpr *whole = define_ir_whole(m, data) ? define_ir_whole(m, data) : define_ir_alone(m, data);

	return define_ir_ask(m, "define_store", (void *)define_store,
			     mkIRExprVec_6(address, mark, define_ir_mark_of(m, data),
					   define_ir_word((Addr)define_ir_site(m, size_of(m, data))),
					   as_word(m, data), whole));
}

static void assignment(struct marking *m, IRStmt *st)
{
	IRExpr *data = st->Ist.WrTmp.data;

	if (data->tag != Iex_Load) {
		m->marks[st->Ist.WrTmp.tmp] = expression_mark(m, data);
		addStmtToIRSB(m->out, st);
		define_ir_note_whole(m, st->Ist.WrTmp.tmp, data);
		return;
	}
	IRExpr *address = load_at(m, data->Iex.Load.addr, define_ir_mark_of(m, data->Iex.Load.addr),
				  sizeofIRType(data->Iex.Load.ty));

	m->marks[st->Ist.WrTmp.tmp] = result_mark(m);
	m->loaded = st->Ist.WrTmp.tmp;
	addStmtToIRSB(m->out, IRStmt_WrTmp(st->Ist.WrTmp.tmp,
					   IRExpr_Load(data->Iex.Load.end, data->Iex.Load.ty, address)));
}

/* Guarded accesses: the helper is asked in any case with an address that is fine then. */
static IRExpr *guarded(struct marking *m, IRExpr *guard, IRExpr *address)
{
	return define_ir_fresh(m, Ity_I64, IRExpr_ITE(guard, address, define_ir_word((Addr)define.nowhere)));
}

static void guarded_load(struct marking *m, IRLoadG *load)
{
	IRType from, to;

	typeOfIRLoadGOp(load->cvt, &to, &from);
	IRExpr *address = load_at(m, guarded(m, load->guard, load->addr), define_ir_mark_of(m, load->addr),
				  sizeofIRType(from));

	m->marks[load->dst] = merged(m, result_mark(m), define_ir_mark_of(m, load->guard));
	addStmtToIRSB(m->out, IRStmt_LoadG(load->end, load->cvt, load->dst, address, load->alt, load->guard));
}

static void compare_and_swap(struct marking *m, IRCAS *cas)
{
	Int size = size_of(m, cas->dataLo) * (cas->dataHi ? 2 : 1);
	IRExpr *address = load_at(m, cas->addr, define_ir_mark_of(m, cas->addr), size);

	m->marks[cas->oldLo] = result_mark(m);
	if (cas->oldHi != IRTemp_INVALID)
		m->marks[cas->oldHi] = m->marks[cas->oldLo];
	IRExpr *mark = merged(m, define_ir_mark_of(m, cas->dataLo), define_ir_mark_of(m, cas->expdLo));

	address = define_ir_ask(m, "define_store", (void *)define_store,
				mkIRExprVec_6(address, define_ir_mark_of(m, cas->addr), mark,
					      define_ir_word((Addr)define_ir_site(m, size)),
					      as_word(m, cas->dataLo), define_ir_alone(m, cas->dataLo)));
	addStmtToIRSB(m->out, IRStmt_CAS(mkIRCAS(cas->oldHi, cas->oldLo, cas->end, address, cas->expdHi,
						 cas->expdLo, cas->dataHi, cas->dataLo)));
}

/* Hooks of the tool must not see an address that is suppressed. */
static void helper_call(struct marking *m, IRDirty *dirty)
{
	IRExpr *first = dirty->args[0];

	if (dirty->mFx == Ifx_None && first)
		addStmtToIRSB(m->out, IRStmt_Store(Iend_LE, define_ir_word((Addr)&define.hooked),
						   define_ir_mark_of(m, first)));
	if (dirty->mFx == Ifx_None && first && first->tag == Iex_RdTmp &&
	    !define_ir_is_none(define_ir_mark_of(m, first)) &&
	    typeOfIRExpr(m->out->tyenv, first) == Ity_I64) {
		IRExpr *cut = define_ir_fresh(
			m, Ity_I64,
			IRExpr_Binop(Iop_Shr64, define_ir_mark_of(m, first), IRExpr_Const(IRConst_U8(63))));
		IRExpr *gone = define_ir_fresh(m, Ity_I1, IRExpr_Binop(Iop_CmpNE64, cut, define_ir_word(0)));

		dirty->args[0] = define_ir_fresh(
			m, Ity_I64, IRExpr_ITE(gone, define_ir_word((Addr)define.nowhere), first));
	}
	addStmtToIRSB(m->out, IRStmt_Dirty(dirty));
}

static void evaluation(struct marking *m)
{
	IRDirty *dirty =
		unsafeIRDirty_0_N(1, "define_evaluate", VG_(fnptr_to_fnentry)((void *)define_evaluate),
				  mkIRExprVec_1(define_ir_word((Addr)define_ir_site(m, 8))));

	addStmtToIRSB(m->out, IRStmt_Dirty(dirty));
}

static void statement(struct marking *m, IRStmt *st, bool last)
{
	switch (st->tag) {
	case Ist_IMark:
		m->pc = st->Ist.IMark.addr;
		m->length = st->Ist.IMark.len;
		addStmtToIRSB(m->out, st);
		if (define_is_point(m->pc))
			evaluation(m);
		break;
	case Ist_WrTmp:
		assignment(m, st);
		break;
	case Ist_Put:
		put_mark(m, st->Ist.Put.offset, st->Ist.Put.data);
		addStmtToIRSB(m->out, st);
		break;
	case Ist_Store:
		addStmtToIRSB(m->out, IRStmt_Store(st->Ist.Store.end,
						   store_at(m, st->Ist.Store.addr,
							    define_ir_mark_of(m, st->Ist.Store.addr),
							    st->Ist.Store.data),
						   st->Ist.Store.data));
		break;
	case Ist_StoreG: {
		IRStoreG *store = st->Ist.StoreG.details;
		IRExpr *address = store_at(m, guarded(m, store->guard, store->addr),
					   define_ir_mark_of(m, store->addr), store->data);

		addStmtToIRSB(m->out, IRStmt_StoreG(store->end, address, store->data, store->guard));
		break;
	}
	case Ist_LoadG:
		guarded_load(m, st->Ist.LoadG.details);
		break;
	case Ist_CAS:
		compare_and_swap(m, st->Ist.CAS.details);
		break;
	case Ist_Dirty:
		helper_call(m, st->Ist.Dirty.details);
		break;
	case Ist_Exit:
		define_ir_branch(m, st, last);
		break;
	default:
		addStmtToIRSB(m->out, st);
	}
}

/* Statements of the tool's own load and store its own memory at constant addresses. */
static bool is_own(const IRStmt *st)
{
	const IRExpr *address = st->tag == Ist_Store ? st->Ist.Store.addr
				: st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_Load
					? st->Ist.WrTmp.data->Iex.Load.addr
					: NULL;
	Addr at = address ? define_ir_constant(address) : 0;

	return at >= (Addr)&grind && at < (Addr)(&grind + 1);
}

IRSB *define_instrument(IRSB *in, const VexGuestLayout *layout)
{
	struct marking m = {
		.loaded = IRTemp_INVALID, .in = in, .out = deepCopyIRSBExceptStmts(in), .layout = layout
	};

	m.marks = VG_(calloc)("define.marks", (SizeT)in->tyenv->types_used + 1, sizeof(IRExpr *));
	m.whole = VG_(calloc)("define.marks", (SizeT)in->tyenv->types_used + 1, sizeof(IRExpr *));
	for (Int i = 0; i < in->stmts_used; i++)
		if (is_own(in->stmts[i]))
			addStmtToIRSB(m.out, in->stmts[i]);
		else
			statement(&m, in->stmts[i], i + 1 == in->stmts_used);
	define_ir_end(&m);
	VG_(free)(m.marks);
	VG_(free)(m.whole);
	return m.out;
}
