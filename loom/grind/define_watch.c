/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the user watches: the accesses of a line, an address, or an expression that is
 * evaluated before instructions of a line. What the evaluation reads has marks as if the
 * program had read it there; the end of the program is the failure. */
#include "loom/grind/define.h"
#include "loom/grind/system_calls.h" /* offsets of registers */

/* The last time that each instruction read or wrote what is watched. */
static struct {
	const struct value_site *site;
	uint64_t mark;
	uint32_t thread;
} watched[ISOLATE_USES];

static bool held; /* the condition was true once: that is the failure */

void define_watched(const struct value_site *site, uint64_t mark)
{
	uint32_t i = 0;

	if (!define_is_loaded(mark))
		return;
	while (i < ISOLATE_USES && watched[i].site && watched[i].site->pc != site->pc)
		i++;
	if (i == ISOLATE_USES)
		return;
	watched[i].site = site;
	watched[i].mark = mark;
	watched[i].thread = grind.thread->number;
}

void define_ended(void)
{
	struct isolate_failure *failure = NULL;

	for (uint32_t i = 0; define.on && i < ISOLATE_USES; i++) {
		if (!watched[i].site || watched[i].mark & MARK_SUPPRESSED)
			continue;
		if (!failure)
			failure = define_begin(FAILED_WATCH, watched[i].site->pc);
		if (!failure)
			return;
		failure->thread = watched[i].thread;
		define_add_uses(failure, watched[i].mark);
	}
}

/* ---- the machine that evaluates expressions ---- */

#define STACK 32u
struct machine {
	uint64_t stack[STACK];
	uint64_t marks[STACK]; /* where these values were read */
	uint32_t n;
	uint64_t popped;  /* the mark of what was popped since the last push, all of it */
	uint64_t decided; /* of what && and || went by */
	Addr bias;
	const struct value_site *site;
	bool fails; /* there is no value: memory that cannot be read, a division by zero */
};

static uint64_t cut(uint64_t value, uint32_t size)
{
	uint32_t bits = (size & ~OP_SIGNED) * 8;

	if (!bits || bits >= 64)
		return value;
	value &= (1ull << bits) - 1;
	return size & OP_SIGNED && value >> (bits - 1) ? value | ~0ull << bits : value;
}

/* What is pushed was made of what was popped before. */
static void push(struct machine *m, uint64_t value)
{
	if (m->n == STACK) {
		m->fails = true;
		return;
	}
	m->marks[m->n] = m->popped;
	m->stack[m->n++] = value;
	m->popped = 0;
}

static uint64_t pop(struct machine *m)
{
	if (!m->n) {
		m->fails = true;
		return 0;
	}
	m->popped = define_merge(m->popped, m->marks[--m->n]);
	return m->stack[m->n];
}

/* Registers by their DWARF numbers. */
static Int register_at(uint32_t number)
{
	static const Int offsets[] = {
		REGISTER(RAX), REGISTER(RDX), REGISTER(RCX), REGISTER(RBX), REGISTER(RSI), REGISTER(RDI),
		REGISTER(RBP), REGISTER(RSP), REGISTER(R8),  REGISTER(R9),  REGISTER(R10), REGISTER(R11),
		REGISTER(R12), REGISTER(R13), REGISTER(R14), REGISTER(R15),
	};

	return number < sizeof offsets / sizeof *offsets ? offsets[number] : -1;
}

static uint64_t register_of(struct machine *m, uint32_t number)
{
	ThreadId tid = grind.thread->tid;
	Int offset = register_at(number);
	uint64_t value = 0, mark = 0;

	if (offset < 0) {
		m->fails = true;
		return 0;
	}
	VG_(get_shadow_regs_area)(tid, (UChar *)&value, 0, offset, sizeof value);
	if (offset != REGISTER(RSP)) {
		VG_(get_shadow_regs_area)(tid, (UChar *)&mark, 1, offset, sizeof mark);
		m->popped = mark;
	}
	return value;
}

static uint64_t load(struct machine *m, Addr address, uint32_t size)
{
	uint32_t bytes = size & ~OP_SIGNED;
	uint64_t value = 0;

	if (!bytes || bytes > 8 || !VG_(am_is_valid_for_client)(address, bytes, VKI_PROT_READ)) {
		m->fails = true;
		return 0;
	}
	VG_(memcpy)(&value, (void *)address, bytes);
	m->popped = define_read_by_watch(address, bytes, m->popped, m->site);
	return cut(value, size);
}

static uint64_t divided(struct machine *m, uint64_t a, uint64_t b, uint32_t size, bool rest)
{
	if (!b || (size & OP_SIGNED && b == ~0ull && a == 1ull << 63)) {
		m->fails = true;
		return 0;
	}
	if (size & OP_SIGNED)
		return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
	return rest ? a % b : a / b;
}

static bool is_less(uint64_t a, uint64_t b, uint32_t size)
{
	return size & OP_SIGNED ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t combine(struct machine *m, const struct isolate_op *op, uint64_t a, uint64_t b)
{
	bool is_signed = op->size & OP_SIGNED;

	switch (op->operation) {
	case OP_MULTIPLY:
		return a * b;
	case OP_DIVIDE:
	case OP_REST:
		return divided(m, a, b, op->size, op->operation == OP_REST);
	case OP_ADD:
		return a + b;
	case OP_SUBTRACT:
		return a - b;
	case OP_SHIFT_LEFT:
		return b < 64 ? a << b : 0;
	case OP_SHIFT_RIGHT:
		b = b < 64 ? b : 63;
		return is_signed ? (uint64_t)((int64_t)a >> b) : a >> b;
	case OP_LESS:
		return is_less(a, b, op->size);
	case OP_LESS_EQUAL:
		return !is_less(b, a, op->size);
	case OP_EQUAL:
		return a == b;
	case OP_UNEQUAL:
		return a != b;
	case OP_AND:
		return a & b;
	case OP_EXCLUSIVE:
		return a ^ b;
	case OP_OR:
		return a | b;
	default:
		m->fails = true;
		return 0;
	}
}

/* Operands become what C makes of them before the operation; a shift takes its second one as it is. */
static void apply(struct machine *m, const struct isolate_op *op)
{
	uint64_t b = pop(m), a = cut(pop(m), op->size);
	bool shifts = op->operation == OP_SHIFT_LEFT || op->operation == OP_SHIFT_RIGHT;

	push(m, cut(combine(m, op, a, shifts ? b : cut(b, op->size)), op->size));
}

/* How many operations are left out behind this one. */
static uint64_t decide(struct machine *m, const struct isolate_op *op)
{
	uint64_t value = pop(m);

	m->decided = define_merge(m->decided, m->popped);
	m->popped = 0;
	if ((value == 0) == (op->operation == OP_IF_ZERO))
		return 0;
	push(m, op->operation == OP_IF_ZERO);
	return op->value;
}

static uint64_t step(struct machine *m, const struct isolate_op *op)
{
	switch (op->operation) {
	case OP_CONSTANT:
		push(m, op->value);
		return 0;
	case OP_FILE_ADDRESS:
		push(m, op->value + m->bias);
		return 0;
	case OP_REGISTER:
		push(m, register_of(m, (uint32_t)op->value));
		return 0;
	case OP_ADD_TO_REGISTER:
		push(m, register_of(m, op->size) + op->value);
		return 0;
	case OP_LOAD:
		push(m, load(m, pop(m), op->size));
		return 0;
	case OP_CUT:
		push(m, cut(pop(m), op->size));
		return 0;
	case OP_NEGATE:
		push(m, cut(-pop(m), op->size));
		return 0;
	case OP_COMPLEMENT:
		push(m, cut(~pop(m), op->size));
		return 0;
	case OP_NOT:
		push(m, !pop(m));
		return 0;
	case OP_TRUTH:
		push(m, pop(m) != 0);
		return 0;
	case OP_UNLESS_ZERO:
	case OP_IF_ZERO:
		return decide(m, op);
	default:
		apply(m, op);
		return 0;
	}
}

static const struct isolate_point *point_at(Addr pc, Addr *bias)
{
	const struct isolate_area *area = define.area;
	const DebugInfo *info =
		code_kind(pc) == CODE_PROGRAM ? VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc) : NULL;

	if (!info)
		return NULL;
	*bias = (Addr)VG_(DebugInfo_get_text_bias)(info);
	for (uint32_t i = 0; i < area->npoints; i++)
		if (area->points[i].at == pc - *bias)
			return &area->points[i];
	return NULL;
}

bool define_is_point(Addr pc)
{
	Addr bias;

	return define.area->npoints && point_at(pc, &bias);
}

VG_REGPARM(1) void define_evaluate(const struct value_site *site)
{
	struct machine m = { .site = site };
	const struct isolate_point *point = point_at(site->pc, &m.bias);
	const struct isolate_op *code = define.area->code + (point ? point->first : 0);

	/* The program may have written to the area. */
	if (point && (point->first > ISOLATE_CODE || point->count > ISOLATE_CODE - point->first))
		point = NULL;
	define_thread();
	for (uint64_t i = 0; point && i < point->count && !m.fails; i++)
		i += step(&m, &code[i]);
	if (!point || m.fails || !m.n || held)
		return;
	uint64_t mark = define_merge(m.marks[0], m.decided);

	if (define.area->is_condition && (!m.stack[0] || mark & MARK_SUPPRESSED))
		return;
	held = define.area->is_condition;
	define_watched(site, mark);
}
