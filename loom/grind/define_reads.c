/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The reads that a failure depends on: those of what it used itself, those that these
 * values were computed from, those that said where to read, and those that the branches
 * before the failure went by. The nearest first, by the number of such steps. */
#include "loom/grind/define.h"

#define PENDING 512u
#define BRANCHED 128u /* of them are kept for what branches of the failing thread went by */
#define DISTANT 24u   /* steps back, at most */

struct pending {
	uint32_t number; /* of the load */
	uint32_t distance, dependence;
	bool expanded, told;
};

struct search {
	struct pending pending[PENDING];
	uint32_t n, room;
};

static void push_loads(struct search *search, uint32_t number, uint32_t distance, uint32_t dependence,
		       uint32_t *left)
{
	const struct load *load = define_load_numbered(number);

	/* What stands for two: the second may stand for two again. */
	while (load && !load->site && *left) {
		--*left;
		push_loads(search, MARK_FIRST(load->mark), distance, dependence, left);
		number = MARK_SECOND(load->mark);
		load = define_load_numbered(number);
	}
	if (!load || !load->site || distance > DISTANT)
		return;
	for (uint32_t i = 0; i < search->n; i++)
		if (search->pending[i].number == number)
			return;
	if (search->n < search->room)
		search->pending[search->n++] =
			(struct pending){ .number = number, .distance = distance, .dependence = dependence };
}

/* So many that stand for two are taken apart at most: a sum in a loop may be one of thousands, with shared parts. */
static void push(struct search *search, uint32_t number, uint32_t distance, uint32_t dependence)
{
	uint32_t left = PENDING;

	push_loads(search, number, distance, dependence, &left);
}

static void push_mark(struct search *search, uint64_t mark, uint32_t distance, uint32_t dependence)
{
	push(search, MARK_FIRST(mark), distance, dependence);
	push(search, MARK_SECOND(mark), distance, dependence);
}

static struct pending *nearest(struct search *search, bool to_tell)
{
	struct pending *best = NULL;

	for (uint32_t i = 0; i < search->n; i++) {
		struct pending *at = &search->pending[i];

		if (!(to_tell ? at->told : at->expanded) && (!best || at->distance < best->distance))
			best = at;
	}
	return best;
}

#define DECIDED 2u  /* steps from a write to the branch that led its thread there */
#define DECIDING 1u /* as far from the failure as this, what decided for a write is looked at */

/* Nobody had written there, but beside it, as elements of an array are: what said where to write those may have said a
 * wrong place for this one. */
static void push_neighbours(struct search *search, const struct pending *at, const struct load *load)
{
	const SizeT size = load->site->size;

	for (int side = 0; side < 2; side++) {
		const struct definition *beside =
			define_numbered(define_at(side ? load->address + size : load->address - size));

		if (beside && beside->definer == DEFINED_STORE && beside->size == size)
			push_mark(search, beside->where, at->distance + 1, READ_ADDRESS);
	}
}

/* What a read depends on. */
static void expand(struct search *search, const struct pending *at)
{
	const struct load *load = define_load_numbered(at->number);
	bool control =
		at->dependence == READ_CONTROL ||
		at->dependence == READ_DECIDED; /* what a branch went by led there by that branch only */

	for (uint32_t i = 0; i < LOAD_WORDS && 8 * i < load->site->size; i++) {
		const struct definition *from = define_numbered(load->definition[i]);

		if (!from && !at->distance && load->site->size <= 8)
			push_neighbours(search, at, load);
		if (!from)
			continue;
		if (at->distance <= DECIDING && !control && from->thread != load->thread)
			push_mark(search, from->decided, at->distance + DECIDED, READ_DECIDED);
		/* What that thread went by it had perhaps decided itself, before: that it is on a list, say. */
		if (at->distance <= DECIDING + DECIDED && from->thread == load->thread &&
		    load->thread != grind.thread->number)
			push_mark(search, from->decided, at->distance + DECIDED, READ_DECIDED);
		if (from->definer != DEFINED_STORE)
			continue;
		push_mark(search, from->mark, at->distance + !(from->mark & MARK_COPY),
			  control ? READ_CONTROL : READ_VALUE);
		/* What said where to write: of what failed itself, the write may have been meant for another
		 * place. */
		if (!at->distance)
			push_mark(search, from->where, 1, control ? READ_CONTROL : READ_ADDRESS);
	}
	push_mark(search, load->mark, at->distance + 1, control ? READ_CONTROL : READ_ADDRESS);
}

#define CUTS_TOLD 2u
/* The nearest stores of values that had lost bits, among those that the failure was made of. */
static void tell_cuts(struct isolate_failure *failure, const struct search *search)
{
	uint32_t told = 0;

	for (uint32_t distance = 0; distance <= DISTANT && told < CUTS_TOLD; distance++)
		for (uint32_t i = 0; i < search->n && told < CUTS_TOLD; i++) {
			const struct pending *at = &search->pending[i];
			const struct load *load = define_load_numbered(at->number);

			if (at->distance == distance && at->dependence <= READ_ADDRESS && load)
				told += define_tell_read_cut(failure, load, false) ||
					(at->dependence == READ_ADDRESS &&
					 define_tell_turned_index(failure, load));
		}
}

static void expand_all(struct search *search)
{
	struct pending *at;

	while ((at = nearest(search, false))) {
		const struct pending now = *at;

		at->expanded = true;
		expand(search, &now);
	}
}

/* Reads of libraries of what libraries had written are no accesses of the program. */
static bool is_of_program(const struct load *load)
{
	const struct definition *from = define_numbered(load->definition[0]);

	return load->site->kind == CODE_PROGRAM || !from || !from->site || from->site->kind == CODE_PROGRAM;
}

static void tell(struct isolate_failure *failure, const struct pending *at)
{
	const struct load *load = define_load_numbered(at->number);

	if (is_of_program(load))
		failure->reads[failure->nreads++] =
			(struct isolate_read){ .place = define_place(load->site->pc, load->call),
					       .address = load->address,
					       .size = load->site->size,
					       .order = load->order,
					       .thread = load->thread,
					       .dependence = at->dependence,
					       .distance = at->distance };
}

/* The youngest branch that is older than `before`, among calls that are at most so deep. */
static const struct value_branch *branch_before(const struct value_thread *thread, uint64_t before,
						uint32_t deepest)
{
	const struct value_branch *best = NULL;

	for (uint32_t depth = 0; depth < BRANCH_DEPTHS && depth <= deepest; depth++)
		for (uint32_t i = 0; i < BRANCH_KEPT; i++) {
			const struct value_branch *branch = &thread->branches[depth][i];

			if (branch->site && branch->when < before && (!best || branch->when > best->when))
				best = branch;
		}
	return best;
}

/* A thread that ends itself does so in a call of the program: how many calls it is in with that one. */
static uint32_t ending_call(const struct value_thread *thread)
{
	uint32_t depth = thread->nreturns;

	while (depth && code_kind(thread->returns[depth - 1]) != CODE_PROGRAM)
		depth--;
	return depth;
}

uint64_t define_ended_by(const struct value_thread *thread, Addr *call)
{
	uint32_t depth = ending_call(thread);
	uint64_t mark = depth ? thread->targets[depth - 1] : 0;
	const struct load *load = define_load_numbered(MARK_FIRST(mark));

	if (!load || !MARK_FIRST(load->mark))
		return 0;
	*call = thread->returns[depth - 1] - 1;
	return mark;
}

/* The branch was in the function that made that call, or in one that this function was called from. */
const struct value_branch *define_deciding_branch(const struct value_thread *thread)
{
	uint32_t depth = ending_call(thread);
	const struct value_branch *branch = branch_before(thread, ~0ull, depth ? depth - 1 : 0);

	return branch ? branch : branch_before(thread, ~0ull, BRANCH_DEPTHS);
}

#define BRANCHES_PER_STEP 2u /* so many branches count as one step back */
#define BRANCHES 24u

void define_list_reads(struct isolate_failure *failure, uint64_t mark)
{
	struct search *search = VG_(calloc)("define.search", 1, sizeof *search);
	const struct value_thread *thread = define_thread();
	uint64_t before = ~0ull;
	struct pending *at;

	search->room = PENDING - BRANCHED;
	push_mark(search, mark, 0, READ_USED);
	/* Of a block that was freed, why it was. */
	if (failure->nuses && !failure->reads[0].distance && failure->nreads)
		push_mark(search,
			  define_decided(failure->uses[0].hops[0].definition.address,
					 failure->uses[0].hops[0].definition.when),
			  DECIDED, READ_CONTROL);
	expand_all(search);
	tell_cuts(failure, search);
	search->room = PENDING;
	for (uint32_t i = 0; i < BRANCHES; i++) {
		const struct value_branch *branch = branch_before(thread, before, BRANCH_DEPTHS);

		if (!branch)
			break;
		before = branch->when;
		push_mark(search, branch->mark, 1 + i / BRANCHES_PER_STEP, READ_CONTROL);
	}
	/* Where all wait, what any of them waits for may be wrong. */
	for (uint32_t slot = 0; failure->kind == FAILED_HANG && slot < AREA_SLOTS; slot++) {
		const struct value_thread *other = define_thread_in(slot);
		const struct value_branch *branch =
			other && other != thread ? define_deciding_branch(other) : NULL;

		if (branch)
			push_mark(search, branch->mark, 1, READ_CONTROL);
	}
	expand_all(search);
	while (failure->nreads < ISOLATE_READS && (at = nearest(search, true))) {
		at->told = true;
		tell(failure, at);
	}
	VG_(free)(search);
}
