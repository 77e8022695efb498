/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Puts calls before the accesses of a superblock. Every load, store and atomic
 * update of the program's code gets one; what the C++ library and libc's memory
 * functions do is put down to the call instruction that the program executed
 * last; all other code stays as it is. Not seen as accesses: return addresses,
 * which are nobody's data. */
#include "loom/grind/define.h"
#include "loom/grind/routines.h"
#include "loom/grind/tool.h"

struct weaving {
	IRSB *out;
	struct weave quick;
	IRSB *in;
	const VexGuestLayout *layout;
	enum code_kind kind;
	Addr pc;
	UInt length;
	bool atomic; /* the instruction at hand is an atomic update, */
	bool done;   /* whose hook is already there */
};

static void call(struct weaving *w, const HChar *name, void *function, int nargs, IRExpr **args,
		 IRExpr *guard)
{
	IRDirty *dirty = unsafeIRDirty_0_N(nargs, name, VG_(fnptr_to_fnentry)(function), args);

	if (guard)
		dirty->guard = guard;
	addStmtToIRSB(w->out, IRStmt_Dirty(dirty));
}

static IRExpr *number(uint64_t value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *temporary(struct weaving *w, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(w->out->tyenv, type);

	addStmtToIRSB(w->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static Addr constant(const IRExpr *address)
{
	return address->tag == Iex_Const && address->Iex.Const.con->tag == Ico_U64
		       ? address->Iex.Const.con->Ico.U64
		       : 0;
}

static void access_hooked(struct weaving *w, IRExpr *address, uint32_t size, bool write, IRExpr *guard)
{
	if (grind.pointed)
		quick_begin(&w->quick);
	if (w->kind == CODE_LIBRARY) {
		call(w, "access_library", access_library, 3,
		     mkIRExprVec_3(address, number(size), number(write)), guard);
		return;
	}
	uint32_t site = site_at(w->pc, write ? SITE_WRITE : SITE_READ, false, size, constant(address), NULL);

	if (!site || (!guard && quick_access(&w->quick, address, site, size, write)))
		return;
	quick_tell_order(&w->quick);
	call(w, "access_any", access_any, 2,
	     mkIRExprVec_2(address, number(ACCESS_WHAT(site, size, write, 0))), guard);
	quick_counted_elsewhere(&w->quick);
}

static void update_hooked(struct weaving *w, IRExpr *address, uint32_t size)
{
	if (w->done)
		return;
	w->done = true;
	if (w->kind == CODE_LIBRARY) {
		access_hooked(w, address, size, true, NULL);
		return;
	}
	uint32_t site = site_at(w->pc, SITE_UPDATE, true, size, constant(address), NULL);

	if (!site)
		return;
	if (grind.pointed)
		quick_begin(&w->quick);
	quick_tell_order(&w->quick);
	call(w, "access_update", access_update, 3, mkIRExprVec_3(address, number(site), number(size)), NULL);
	quick_counted_elsewhere(&w->quick);
}

static uint32_t bytes_of(const struct weaving *w, const IRExpr *data)
{
	return (uint32_t)sizeofIRType(typeOfIRExpr(w->in->tyenv, data));
}

/* Does the instruction that begins at statement `at` update memory atomically? */
static bool is_atomic(const IRSB *in, Int at)
{
	for (Int i = at + 1; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		if (in->stmts[i]->tag == Ist_CAS)
			return true;
	return false;
}

/* Stores of return addresses: the one store of an instruction that ends the block with a call. */
static bool is_return_address(const struct weaving *w, const IRStmt *st)
{
	return w->in->jumpkind == Ijk_Call && constant(st->Ist.Store.data) == w->pc + w->length;
}

/* A return reads the address that it goes to. */
static bool is_return(const struct weaving *w, IRTemp loaded)
{
	return w->in->jumpkind == Ijk_Ret && w->in->next->tag == Iex_RdTmp &&
	       w->in->next->Iex.RdTmp.tmp == loaded;
}

static void load_hooked(struct weaving *w, IRTemp loaded, IRExpr *address, IRType type)
{
	if (is_return(w, loaded))
		return;
	if (w->atomic)
		update_hooked(w, address, (uint32_t)sizeofIRType(type));
	else
		access_hooked(w, address, (uint32_t)sizeofIRType(type), false, NULL);
}

static void loadg_hooked(struct weaving *w, const IRLoadG *load)
{
	IRType from, to;

	typeOfIRLoadGOp(load->cvt, &to, &from);
	access_hooked(w, load->addr, (uint32_t)sizeofIRType(from), false, load->guard);
}

static void dirty_hooked(struct weaving *w, const IRDirty *dirty)
{
	if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify)
		access_hooked(w, dirty->mAddr, (uint32_t)dirty->mSize, false, NULL);
	if (dirty->mFx == Ifx_Write || dirty->mFx == Ifx_Modify)
		access_hooked(w, dirty->mAddr, (uint32_t)dirty->mSize, true, NULL);
}

static bool follows_loops(const struct weaving *w)
{
	return w->kind == CODE_PROGRAM && grind.observes & OBSERVE_LOOPS;
}

/* At the header of a loop, and where one is left. The steps of a thread are ordered among its accesses. */
static void note_loops(struct weaving *w)
{
	const struct loop_mark *mark = follows_loops(w) ? routine_mark(w->pc) : NULL;

	if (!mark)
		return;
	quick_tell_order(&w->quick);
	IRExpr *sp = temporary(w, Ity_I64, IRExpr_Get(w->layout->offset_SP, Ity_I64));

	call(w, "trail_step", trail_step, 2, mkIRExprVec_2(number((Addr)mark), sp), NULL);
}

static void statement(struct weaving *w, Int at)
{
	IRStmt *st = w->in->stmts[at];

	switch (st->tag) {
	case Ist_IMark:
		w->pc = st->Ist.IMark.addr;
		w->length = st->Ist.IMark.len;
		w->atomic = is_atomic(w->in, at);
		w->done = false;
		note_loops(w);
		break;
	case Ist_WrTmp:
		if (st->Ist.WrTmp.data->tag == Iex_Load)
			load_hooked(w, st->Ist.WrTmp.tmp, st->Ist.WrTmp.data->Iex.Load.addr,
				    st->Ist.WrTmp.data->Iex.Load.ty);
		break;
	case Ist_Store:
		if (!is_return_address(w, st))
			access_hooked(w, st->Ist.Store.addr, bytes_of(w, st->Ist.Store.data), true, NULL);
		break;
	case Ist_LoadG:
		loadg_hooked(w, st->Ist.LoadG.details);
		break;
	case Ist_StoreG:
		access_hooked(w, st->Ist.StoreG.details->addr, bytes_of(w, st->Ist.StoreG.details->data),
			      true, st->Ist.StoreG.details->guard);
		break;
	case Ist_CAS:
		update_hooked(w, st->Ist.CAS.details->addr,
			      bytes_of(w, st->Ist.CAS.details->dataLo) *
				      (st->Ist.CAS.details->dataHi ? 2 : 1));
		break;
	case Ist_Dirty:
		dirty_hooked(w, st->Ist.Dirty.details);
		break;
	case Ist_Exit:
		quick_tell_order(&w->quick);
		break;
	default:
		break;
	}
	addStmtToIRSB(w->out, st);
}

/* Before a call: where it is, and whether frames that others have seen are over. */
static void note_call(struct weaving *w)
{
	addStmtToIRSB(w->out, IRStmt_Store(Iend_LE, number((Addr)&grind.call), number(w->pc)));
	IRExpr *sp = temporary(w, Ity_I64, IRExpr_Get(w->layout->offset_SP, Ity_I64));

	if (site_in_header(w->pc)) {
		call(w, "access_header_call", access_header_call, 1, mkIRExprVec_1(sp), NULL);
	} else {
		addStmtToIRSB(w->out, IRStmt_Store(Iend_LE, number((Addr)&grind.own_call), number(w->pc)));
		addStmtToIRSB(w->out, IRStmt_Store(Iend_LE, number((Addr)&grind.own_sp), sp));
	}
	IRExpr *low = temporary(w, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, number((Addr)&grind.shared_low)));
	IRExpr *over = temporary(w, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, low, sp));

	call(w, "access_stack", access_stack, 1, mkIRExprVec_1(sp), over);
	if (!follows_loops(w))
		return;
	low = temporary(w, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, number((Addr)&grind.loop_low)));
	over = temporary(w, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, low, sp));
	call(w, "trail_call", trail_call, 1, mkIRExprVec_1(sp), over);
}

/* To copy by `rep movsb`, byte by byte in a loop of its own, is fast on a processor but not under Valgrind: libc is
 * told that there is no such thing (leaf 7, bit 9 of ebx). */
static void hide_fast_copies(IRSB *out, IRExpr *leaf)
{
	struct weaving w = { .out = out };
	Int rbx = offsetof(VexGuestAMD64State, guest_RBX);
	IRExpr *is_seven = temporary(
		&w, Ity_I1,
		IRExpr_Binop(Iop_CmpEQ64,
			     temporary(&w, Ity_I64, IRExpr_Binop(Iop_And64, leaf, number(UINT32_MAX))),
			     number(7)));
	IRExpr *told = temporary(&w, Ity_I64, IRExpr_Get(rbx, Ity_I64));
	IRExpr *less = temporary(&w, Ity_I64, IRExpr_Binop(Iop_And64, told, number(~(1ull << 9))));

	addStmtToIRSB(out, IRStmt_Put(rbx, temporary(&w, Ity_I64, IRExpr_ITE(is_seven, less, told))));
}

static bool asks_processor(const IRStmt *st)
{
	return st->tag == Ist_Dirty &&
	       VG_(strncmp)(st->Ist.Dirty.details->cee->name, "amd64g_dirtyhelper_CPUID", 24) == 0;
}

static IRSB *with_plain_copies(IRSB *in)
{
	Int at = 0;

	while (at < in->stmts_used && !asks_processor(in->stmts[at]))
		at++;
	if (at == in->stmts_used)
		return in;
	IRSB *out = deepCopyIRSBExceptStmts(in);

	for (Int i = 0; i < in->stmts_used; i++) {
		struct weaving w = { .out = out };
		IRExpr *leaf =
			asks_processor(in->stmts[i])
				? temporary(&w, Ity_I64,
					    IRExpr_Get(offsetof(VexGuestAMD64State, guest_RAX), Ity_I64))
				: NULL;

		addStmtToIRSB(out, in->stmts[i]);
		if (leaf)
			hide_fast_copies(out, leaf);
	}
	return out;
}

static IRSB *observed(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		      const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		      IRType host_word)
{
	(void)guest_word, (void)host_word;
	server_note_translation(closure->nraddr);
	struct weaving w = { .in = in,
			     .layout = layout,
			     .kind = grind.observed || grind.serves ? code_kind(extents->base[0])
								    : CODE_NONE };
	Int i = 0;

	if (w.kind == CODE_NONE && in->jumpkind != Ijk_Yield)
		return in;
	if (follows_loops(&w))
		routine_learn(extents->base[0], host);
	w.out = deepCopyIRSBExceptStmts(in);
	w.quick.out = w.out;
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		addStmtToIRSB(w.out, in->stmts[i]);
	if (w.kind == CODE_PROGRAM && server_stops_here())
		call(&w, "server_loop", server_loop, 0, mkIRExprVec_0(), NULL);
	for (; i < in->stmts_used; i++)
		if (w.kind == CODE_NONE)
			addStmtToIRSB(w.out, in->stmts[i]);
		else
			statement(&w, i);
	quick_tell_order(&w.quick);
	if (w.kind == CODE_PROGRAM && in->jumpkind == Ijk_Call)
		note_call(&w);
	if (in->jumpkind == Ijk_Yield)
		call(&w, "access_yield", access_yield, 0, mkIRExprVec_0(), NULL);
	return w.out;
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word, IRType host_word)
{
	IRSB *out = observed(closure, with_whole_lanes(with_plain_copies(in)), layout, extents, host,
			     guest_word, host_word);

	return define.on ? define_instrument(out, layout) : out;
}
