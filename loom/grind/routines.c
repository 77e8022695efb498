/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The flow of control in the program's machine code, as far as it can be read: VEX
 * decodes one instruction after the other from where a block begins, over jumps
 * and past calls. What can be reached from there is a routine, and its loops
 * are the natural ones. Where a jump goes that goes through a table is seen when
 * the first block behind it is translated: it joins the routine then, whose loops are
 * found anew and whose blocks are woven anew. */
#include "loom/grind/routines.h"

#include "pub_tool_hashtable.h"

#include "base/natural_loops.h"

#define MOST_PLACES (1u << 16) /* of a routine; beyond them nothing is read */

/* An instruction. */
struct place {
	struct place *next; /* as VgHashNode has it */
	UWord address;
	struct routine *routine;
	uint32_t number; /* in its routine */
	UInt length;
	Addr to[2];    /* 0 = none */
	bool anywhere; /* it jumps to where the text does not tell */
	bool marked;
	struct loop_mark mark;
	struct loop *loop; /* whose header it is, or was taken for */
};

struct routine {
	struct place **places; /* the first one is where it was entered */
	uint32_t n, room;
	Addr *entered; /* by jumps that go anywhere */
	uint32_t nentered;
};

static VgHashTable *places;

/* ---- instructions ---- */

static Addr constant_of(const IRExpr *e)
{
	return e->tag == Iex_Const && e->Iex.Const.con->tag == Ico_U64 ? e->Iex.Const.con->Ico.U64 : 0;
}

static void add_target(struct place *place, Addr target)
{
	/* An instruction that repeats itself is none of the program's loops. */
	if (!target || target == place->address || target == place->to[0])
		return;
	place->to[place->to[0] != 0] = target;
}

/* Takes from the statements of one instruction where it goes. */
static void read_targets(struct place *place, const IRSB *code, const struct core_decoded *decoded)
{
	Addr next = place->address + decoded->length;
	bool told = decoded->what_next == CORE_CONTINUES;

	for (Int i = 0; i < code->stmts_used; i++) {
		const IRStmt *st = code->stmts[i];

		if (st->tag == Ist_Exit && st->Ist.Exit.jk == Ijk_Boring)
			add_target(place, st->Ist.Exit.dst->Ico.U64);
		if (st->tag != Ist_Put || st->Ist.Put.offset != offsetof(VexGuestAMD64State, guest_RIP) ||
		    decoded->what_next == CORE_CONTINUES)
			continue;
		told = constant_of(st->Ist.Put.data) != 0;
		next = constant_of(st->Ist.Put.data);
	}
	switch (decoded->jump) {
	case Ijk_Call:
		next = place->address + decoded->length;
		break;
	case Ijk_Ret:
	case Ijk_NoDecode:
		return;
	default:
		place->anywhere = !told;
	}
	add_target(place, next);
}

static bool decode(struct place *place, const VexArchInfo *machine)
{
	VexAbiInfo conventions;
	HChar *memory = private_LibVEX_alloc_curr;
	IRSB *code = emptyIRSB();

	LibVEX_default_VexAbiInfo(&conventions);
	conventions.guest_stack_redzone_size = 128;
	conventions.guest_amd64_assume_fs_is_const = True;
	conventions.guest_amd64_assume_gs_is_const = True;
	struct core_decoded decoded =
		disInstr_AMD64(code, (const UChar *)place->address, 0, place->address, VexArchAMD64, machine,
			       &conventions, VexEndnessLE, False);

	place->length = decoded.length;
	if (decoded.length)
		read_targets(place, code, &decoded);
	private_LibVEX_alloc_curr = memory;
	return decoded.length != 0;
}

/* ---- routines ---- */

static void add_place(struct routine *routine, struct place *place)
{
	if (routine->n == routine->room) {
		routine->room = routine->room ? routine->room * 2 : 64;
		routine->places =
			VG_(realloc)("grind.flow", routine->places, routine->room * sizeof(struct place *));
	}
	place->routine = routine;
	place->number = routine->n;
	routine->places[routine->n++] = place;
}

static bool goes_anywhere(const struct routine *routine)
{
	for (uint32_t i = 0; i < routine->n; i++)
		if (routine->places[i]->anywhere)
			return true;
	return false;
}

/* Reads the instruction at `address`. If it is known and of a routine with a jump that goes anywhere, *joined is that
 * one: control is likely to have come from there. */
static void read_place(struct routine *routine, Addr address, const VexArchInfo *machine,
		       struct routine **joined)
{
	struct place *place = VG_(HT_lookup)(places, address);

	if (place) {
		if (place->routine != routine && goes_anywhere(place->routine))
			*joined = place->routine;
		return;
	}
	if (routine->n == MOST_PLACES || code_kind(address) != CODE_PROGRAM)
		return;
	place = VG_(calloc)("grind.flow", 1, sizeof *place);
	place->address = address;
	if (!decode(place, machine)) {
		VG_(free)(place);
		return;
	}
	VG_(HT_add_node)(places, place);
	add_place(routine, place);
}

static struct routine *read_routine(struct routine *routine, Addr start, const VexArchInfo *machine)
{
	struct routine *joined = NULL;

	read_place(routine, start, machine, &joined);
	for (uint32_t at = 0; at < routine->n; at++)
		for (int i = 0; i < 2 && routine->places[at]->to[i]; i++)
			read_place(routine, routine->places[at]->to[i], machine, &joined);
	return joined;
}

/* What was read from `start` belongs to `whole`. */
static void join(struct routine *whole, struct routine *part, Addr start)
{
	for (uint32_t i = 0; i < part->n; i++)
		add_place(whole, part->places[i]);
	whole->entered =
		VG_(realloc)("grind.flow", whole->entered, (whole->nentered + 1) * sizeof *whole->entered);
	whole->entered[whole->nentered++] = start;
	VG_(free)(part->places);
	VG_(free)(part);
}

/* ---- loops ---- */

static struct place *successor(const struct place *place, uint32_t number)
{
	const struct routine *routine = place->routine;
	Addr address = number < 2                                          ? place->to[number]
		       : place->anywhere && number - 2 < routine->nentered ? routine->entered[number - 2]
									   : 0;
	struct place *to = address ? VG_(HT_lookup)(places, address) : NULL;

	return to && to->routine == routine ? to : NULL;
}

static struct flow graph_of(const struct routine *routine)
{
	uint32_t most = 2 + routine->nentered, n = 0, jumps = 0;

	for (uint32_t i = 0; i < routine->n; i++)
		jumps += routine->places[i]->anywhere;
	uint32_t *first = VG_(malloc)("grind.flow", (routine->n + 1) * sizeof *first);
	uint32_t *to =
		VG_(malloc)("grind.flow", (2 * routine->n + jumps * routine->nentered + 1) * sizeof *to);

	for (uint32_t i = 0; i < routine->n; i++) {
		first[i] = n;
		for (uint32_t s = 0; s < (routine->places[i]->anywhere ? most : 2); s++) {
			const struct place *next = successor(routine->places[i], s);

			if (next)
				to[n++] = next->number;
		}
	}
	first[routine->n] = n;
	return (struct flow){ .n = routine->n, .first = first, .to = to };
}

static struct loop *loop_at(struct place *header)
{
	if (!header->loop) {
		header->loop = VG_(calloc)("grind.flow", 1, sizeof *header->loop);
		header->loop->header = header->address;
		header->loop->site = site_at(header->address, SITE_LOOP, false, 0, 0, NULL);
	}
	return header->loop;
}

/* Marks are headers, and where control comes when it leaves a loop. */
static void set_marks(struct routine *routine, const struct flow *flow, const struct natural_loop *loops,
		      uint32_t nloops, const int32_t *inner)
{
	for (uint32_t i = 0; i < routine->n; i++) {
		struct place *place = routine->places[i];

		place->marked = false;
		place->mark = (struct loop_mark){
			.inner = inner[i] < 0 ? NULL : loop_at(routine->places[loops[inner[i]].header])
		};
	}
	for (uint32_t i = 0; i < nloops; i++) {
		struct place *header = routine->places[loops[i].header];

		header->loop->parent =
			loops[i].parent < 0 ? NULL : routine->places[loops[loops[i].parent].header]->loop;
		header->marked = header->mark.is_header = true;
	}
	for (uint32_t i = 0; i < routine->n; i++)
		for (uint32_t e = flow->first[i]; e < flow->first[i + 1]; e++) {
			struct place *next = routine->places[flow->to[e]];
			const struct loop *from = routine->places[i]->mark.inner;

			next->marked |= from && !loop_lies_in(next->mark.inner, from);
		}
}

static void find_loops(struct routine *routine)
{
	struct flow flow = graph_of(routine);
	uint32_t *scratch = VG_(malloc)("grind.flow", natural_loops_scratch(&flow) * sizeof *scratch);
	struct natural_loop *loops = VG_(malloc)("grind.flow", flow.n * sizeof *loops);
	int32_t *inner = VG_(malloc)("grind.flow", flow.n * sizeof *inner);
	uint32_t n = natural_loops_find(&flow, scratch, loops, inner);

	set_marks(routine, &flow, loops, n, inner);
	VG_(free)(inner);
	VG_(free)(loops);
	VG_(free)(scratch);
	VG_(free)((void *)(Addr)flow.to);
	VG_(free)((void *)(Addr)flow.first);
}

/* The block that is being translated is not in the table yet. What is thrown away stays where it is for threads that are
 * in the middle of it. */
static void weave_again(const struct routine *routine)
{
	for (uint32_t i = 0; i < routine->n; i++)
		if (routine->places[i]->marked)
			VG_(discard_translations)(routine->places[i]->address, 1, "grind.flow");
}

void routine_learn(Addr pc, const VexArchInfo *machine)
{
	if (!places)
		places = VG_(HT_construct)("grind.flow");
	if (VG_(HT_lookup)(places, pc))
		return;
	struct routine *routine = VG_(calloc)("grind.flow", 1, sizeof *routine);
	struct routine *joined = read_routine(routine, pc, machine);

	if (!routine->n) {
		VG_(free)(routine);
		return;
	}
	if (joined)
		join(joined, routine, pc);
	find_loops(joined ? joined : routine);
	if (joined)
		weave_again(joined);
}

const struct loop_mark *routine_mark(Addr pc)
{
	struct place *place = places ? VG_(HT_lookup)(places, pc) : NULL;

	return place && place->marked ? &place->mark : NULL;
}
