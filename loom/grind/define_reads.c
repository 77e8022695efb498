/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The reads that a failure depends on: those of what it used itself, those that these
 * values were computed from, those that said where to read, and those that the branches
 * before the failure went by. The nearest first, by the number of such steps. */
#include "loom/grind/define.h"

#define PENDING 512u
#define DISTANT 24u /* steps back, at most */

struct pending {
	uint32_t number; /* of the load */
	uint32_t distance, dependence;
	bool done;
};

struct search {
	struct pending pending[PENDING];
	uint32_t n;
};

static void push(struct search *search, uint32_t number, uint32_t distance, uint32_t dependence)
{
	const struct load *load = define_load_numbered(number);

	/* What stands for two: the second may stand for two again. */
	for (uint32_t i = 0; load && !load->site && i < PENDING; i++) {
		push(search, MARK_FIRST(load->mark), distance, dependence);
		number = MARK_SECOND(load->mark);
		load = define_load_numbered(number);
	}
	if (!load || !load->site || distance > DISTANT)
		return;
	for (uint32_t i = 0; i < search->n; i++)
		if (search->pending[i].number == number)
			return;
	if (search->n < PENDING)
		search->pending[search->n++] =
			(struct pending){ .number = number, .distance = distance, .dependence = dependence };
}

static void push_mark(struct search *search, uint64_t mark, uint32_t distance, uint32_t dependence)
{
	push(search, MARK_FIRST(mark), distance, dependence);
	push(search, MARK_SECOND(mark), distance, dependence);
}

static struct pending *nearest(struct search *search)
{
	struct pending *best = NULL;

	for (uint32_t i = 0; i < search->n; i++)
		if (!search->pending[i].done && (!best || search->pending[i].distance < best->distance))
			best = &search->pending[i];
	return best;
}

/* What was read, and then what that depends on. */
static void expand(struct search *search, struct isolate_failure *failure, const struct pending *at)
{
	const struct load *load = define_load_numbered(at->number);
	bool control =
		at->dependence == READ_CONTROL; /* what a branch went by led there by that branch only */

	for (uint32_t i = 0; i < LOAD_WORDS && 8 * i < load->site->size; i++) {
		const struct definition *from = define_numbered(load->definition[i]);

		if (!from || from->definer != DEFINED_STORE)
			continue;
		push_mark(search, from->mark, at->distance + !(from->mark & MARK_COPY),
			  control ? READ_CONTROL : READ_VALUE);
		/* What said where to write: of what failed itself, the write may have been meant for another
		 * place. */
		if (!at->distance)
			push_mark(search, from->where, 1, control ? READ_CONTROL : READ_ADDRESS);
	}
	push_mark(search, load->mark, at->distance + 1, control ? READ_CONTROL : READ_ADDRESS);
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

/* A thread that ends itself does so in a call of the program: the branch was in the function that made it, or
 * in one that this function was called from. */
const struct value_branch *define_deciding_branch(const struct value_thread *thread)
{
	uint32_t depth = thread->nreturns;

	while (depth && code_kind(thread->returns[depth - 1]) != CODE_PROGRAM)
		depth--;
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

	push_mark(search, mark, 0, READ_USED);
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
	while (failure->nreads < ISOLATE_READS && (at = nearest(search))) {
		at->done = true;
		expand(search, failure, at);
	}
	VG_(free)(search);
}
