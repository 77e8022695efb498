/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The fast path, in VEX IR. When memory belongs to the running thread alone, an
 * access puts its site and its order into the cell, and that is all. So the program
 * itself compares the tag of the memory with the thread's (grind.own) and stores.
 * Everything else is told to the slow path, access_missed; as there is no jump inside
 * of a block, the stores go to a place that nobody looks at then.
 *
 *     missed = tag != own || not aligned || !quick[site]
 *     cell = missed ? nowhere : cell
 *     cell->read[...] = site
 *     cell->read_order[...] = order
 *     if (missed) access_missed()
 */
#include "loom/grind/control.h"
#include "loom/grind/define.h"
#include "loom/grind/shadow.h"

static IRExpr *number(uint64_t value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *keep(struct weave *weave, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(weave->out->tyenv, type);

	addStmtToIRSB(weave->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *binary(struct weave *weave, IROp op, IRExpr *a, IRExpr *b)
{
	return keep(weave, Ity_I64, IRExpr_Binop(op, a, b));
}

static IRExpr *compare(struct weave *weave, IROp op, IRExpr *a, IRExpr *b)
{
	return keep(weave, Ity_I1, IRExpr_Binop(op, a, b));
}

static IRExpr *load(struct weave *weave, IRExpr *address)
{
	return keep(weave, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address));
}

static void store(struct weave *weave, IRExpr *address, IRExpr *value)
{
	addStmtToIRSB(weave->out, IRStmt_Store(Iend_LE, address, value));
}

static IRExpr *at(struct weave *weave, IRExpr *base, uint64_t offset)
{
	return offset ? binary(weave, Iop_Add64, base, number(offset)) : base;
}

static void call(struct weave *weave, const HChar *name, void *function, IRExpr **args, int nargs,
		 IRExpr *guard)
{
	IRDirty *dirty = unsafeIRDirty_0_N(nargs, name, VG_(fnptr_to_fnentry)(function), args);

	dirty->guard = guard;
	addStmtToIRSB(weave->out, IRStmt_Dirty(dirty));
}

/* ---- blocks ---- */

/* In a block the order of an access is that at its start and a constant. */
static void load_order(struct weave *weave)
{
	weave->order = load(weave, load(weave, number((Addr)&grind.order_at)));
	weave->counted = 0;
	store(weave, number((Addr)&grind.block_order), weave->order);
}

/* In runs that may be controlled: a thread that has passed no point for long may wait for others. Whether it looks
 * closer at what it does (control.looking) stays as it is until the next block. */
static void check_patience(struct weave *weave)
{
	IRExpr *limit = load(weave, number((Addr)&grind.linger_at));
	IRExpr *over = compare(weave, Iop_CmpLE64U, limit, weave->order);
	IRExpr *looks = keep(weave, Ity_I8, IRExpr_Load(Iend_LE, Ity_I8, number((Addr)&control.looking)));

	call(weave, "access_linger", access_linger, mkIRExprVec_0(), 0, over);
	store(weave, number((Addr)&control.looks_closely), looks);
}

void quick_begin(struct weave *weave)
{
	if (weave->begun)
		return;
	weave->begun = true;
	if (define.on) { /* loads and stores of ours would be followed as the program's */
		call(weave, "access_block", access_block, mkIRExprVec_0(), 0, IRExpr_Const(IRConst_U1(True)));
		return;
	}
	load_order(weave);
	if (grind.pointed)
		check_patience(weave);
	weave->own = load(weave, number((Addr)&grind.own));
	weave->own_half = binary(weave, Iop_And64, weave->own, number(UINT32_MAX));
}

void quick_tell_order(struct weave *weave)
{
	if (!weave->counted)
		return;
	store(weave, load(weave, number((Addr)&grind.order_at)), at(weave, weave->order, weave->counted));
}

void quick_counted_elsewhere(struct weave *weave)
{
	if (weave->order)
		load_order(weave);
}

/* ---- accesses ---- */

static struct cell nowhere[2]; /* of 16 bytes */
static uint64_t no_context[4];

struct quick {
	IRExpr *address;
	uint32_t site, size;
	bool write;
	IRExpr *granule; /* that its first byte lies in */
	IRExpr *offset;  /* in the granule; NULL: it is as large as one, or larger */
	IRExpr *half;    /* likewise, of the half that it lies in */
	IRExpr *cell;
	IRExpr *misses; /* not 0: the slow path does it */
};

static IRExpr *shift(struct weave *weave, IROp op, IRExpr *value, uint8_t bits)
{
	return binary(weave, op, value, IRExpr_Const(IRConst_U8(bits)));
}

static IRExpr *bits_of(struct weave *weave, IRExpr *value, uint64_t mask)
{
	return binary(weave, Iop_And64, value, number(mask));
}

static IRExpr *add(struct weave *weave, IRExpr *a, IRExpr *b)
{
	return b ? binary(weave, Iop_Add64, a, b) : a;
}

static IRExpr *cell_of(struct weave *weave, const struct quick *q)
{
	return at(weave, shift(weave, Iop_Shl64, q->granule, 3), CELLS_BASE);
}

static uint32_t granules(const struct quick *q)
{
	return q->size <= 8 ? 1 : q->size / 8;
}

/* 0 when the tags of all halves are those of the running thread. For a write it makes no difference which bytes were
 * touched before. */
static IRExpr *tags_differ(struct weave *weave, const struct quick *q, bool bytes_differ)
{
	IRExpr *sum = NULL;
	uint64_t full = !bytes_differ || !q->write ? 0
			: q->half                  ? TAG_FULL
						   : TAG_FULL | (uint64_t)TAG_FULL << 32;

	for (uint32_t i = 0; i < granules(q); i++) {
		IRExpr *place =
			at(weave, add(weave, q->cell, q->half), i * CELL_SIZE + offsetof(struct cell, tags));
		IRExpr *tag;

		if (q->half) {
			tag = keep(weave, Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, place));
			tag = keep(weave, Ity_I64, IRExpr_Unop(Iop_32Uto64, tag));
		} else {
			tag = load(weave, place);
		}
		if (full)
			tag = binary(weave, Iop_Or64, tag, number(full));
		IRExpr *bits = binary(weave, Iop_Xor64, tag, q->half ? weave->own_half : weave->own);

		sum = sum ? binary(weave, Iop_Or64, sum, bits) : bits;
	}
	return sum;
}

/* Not 0 when the access does not keep to what was looked at. A half's own tag is not found at an odd place (shadow.h). */
static IRExpr *misaligned(struct weave *weave, const struct quick *q)
{
	if (q->size >= 8)
		return bits_of(weave, q->address, 7);
	if (q->size == 2) /* the last byte of a half, and the next one */
		return bits_of(weave,
			       binary(weave, Iop_And64, q->address, shift(weave, Iop_Shr64, q->address, 1)),
			       1);
	return NULL;
}

static IRExpr *misses(struct weave *weave, const struct quick *q)
{
	bool all = grind.serves || grind.observes & OBSERVE_EDGES;
	IRExpr *sum = tags_differ(weave, q, all);
	IRExpr *beyond = misaligned(weave, q);

	if (beyond)
		sum = binary(weave, Iop_Or64, sum, beyond);
	/* Only programs with hooks have memory so far up: the cells of their own runtime. */
	if (grind.pointed || grind.has_far_memory)
		sum = binary(weave, Iop_Or64, sum, shift(weave, Iop_Shr64, q->address, NEAR_BITS));
	if (all || grind.pointed || grind.observes & OBSERVE_PREDECESSORS) {
		IRExpr *quick = keep(weave, Ity_I8,
				     IRExpr_Load(Iend_LE, Ity_I8, number((Addr)&shadow.quick[q->site])));
		quick = keep(weave, Ity_I64, IRExpr_Unop(Iop_8Uto64, quick));
		sum = binary(weave, Iop_Or64, sum, binary(weave, Iop_Xor64, quick, number(1)));
	}
	return sum;
}

/* Compared anew for every use, since a result that is kept costs more. */
static IRExpr *is_missed(struct weave *weave, const struct quick *q)
{
	return compare(weave, Iop_CmpNE64, q->misses, number(0));
}

/* 2 bytes for each byte of the access. */
static void store_doubled(struct weave *weave, IRExpr *place, uint32_t size, uint64_t value)
{
	for (uint32_t i = 0; i < (size <= 4 ? 1 : size / 4); i++) {
		uint32_t cell = i / 2 * CELL_SIZE, in_cell = i % 2 * 8;
		IRConst *constant = size == 1   ? IRConst_U16((UShort)value)
				    : size == 2 ? IRConst_U32((UInt)(value * 0x10001u))
						: IRConst_U64(value * 0x0001000100010001u);

		store(weave, at(weave, place, cell + in_cell), IRExpr_Const(constant));
	}
}

static void store_sites(struct weave *weave, const struct quick *q, IRExpr *cell)
{
	IRExpr *place = add(weave, cell, q->offset ? shift(weave, Iop_Shl64, q->offset, 1) : NULL);

	if (q->write)
		store_doubled(weave, place, q->size, q->site);
	store_doubled(weave, at(weave, place, offsetof(struct cell, read)), q->size, q->write ? 0 : q->site);
}

static void store_order(struct weave *weave, const struct quick *q, IRExpr *cell, IRExpr *order)
{
	IRExpr *low = keep(weave, Ity_I32, IRExpr_Unop(Iop_64to32, order));
	uint32_t first = q->write ? offsetof(struct cell, write_order) : offsetof(struct cell, read_order);

	for (uint32_t i = 0; i < granules(q); i++) {
		IRExpr *place = at(weave, add(weave, cell, q->half), first + i * CELL_SIZE);

		store(weave, place, low);
		if (!q->half)
			store(weave, at(weave, place, 4), low);
	}
}

/* Edges tell in which context memory was written. */
static void store_context(struct weave *weave, const struct quick *q)
{
	IRExpr *context = load(weave, number((Addr)&grind.context));
	IRExpr *low = shift(weave, Iop_Shl64, q->address, 64 - NEAR_BITS);
	IRExpr *place = at(weave, shift(weave, Iop_Shr64, low, 63 - NEAR_BITS), CONTEXTS_BASE);

	place = keep(weave, Ity_I64, IRExpr_ITE(is_missed(weave, q), number((Addr)no_context), place));
	if (q->size < 4)
		context = keep(weave, q->size == 1 ? Ity_I16 : Ity_I32,
			       IRExpr_Unop(q->size == 1 ? Iop_64to16 : Iop_64to32, context));
	for (uint32_t i = 0; i < (q->size <= 4 ? 1 : q->size / 4); i++)
		store(weave, at(weave, place, 8 * i), context);
}

bool quick_access(struct weave *weave, IRExpr *address, uint32_t site, uint32_t size, bool write)
{
	struct quick q = { .address = address, .site = site, .size = size, .write = write };

	if (define.on || weave->counted == QUICK_MOST || size > 16 || (size & (size - 1)) ||
	    site >= QUICK_SITES)
		return false;
	quick_begin(weave);
	IRExpr *order = at(weave, weave->order, ++weave->counted);

	q.granule = bits_of(weave, address, NEAR(~7ull));
	q.offset = size < 8 ? bits_of(weave, address, 7) : NULL;
	q.half = size == 4 ? q.offset : size < 4 ? bits_of(weave, address, 4) : NULL;
	q.cell = cell_of(weave, &q);
	q.misses = misses(weave, &q);
	IRExpr *cell = keep(weave, Ity_I64, IRExpr_ITE(is_missed(weave, &q), number((Addr)nowhere), q.cell));

	store_sites(weave, &q, cell);
	store_order(weave, &q, cell, order);
	if (write && (grind.serves || grind.observes & OBSERVE_EDGES))
		store_context(weave, &q);
	call(weave, "access_missed", access_missed,
	     mkIRExprVec_2(address, number(ACCESS_WHAT(site, size, write, weave->counted))), 2,
	     is_missed(weave, &q));
	return true;
}
