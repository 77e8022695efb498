/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What else a failure hangs on than the values that it used: who had lowered the count by
 * which a block was freed, which calls led to the free and to the use, what said how large
 * a block is and how much a function of a library was to do. */
#include "loom/grind/define.h"

#include "loom/grind/system_calls.h"

void define_add_clue(struct isolate_failure *failure, const struct isolate_clue *clue)
{
	if (!clue->place.address || failure->nclues == ISOLATE_CLUES)
		return;
	for (uint32_t i = 0; i < failure->nclues; i++)
		if (failure->clues[i].kind == clue->kind &&
		    failure->clues[i].place.address == clue->place.address &&
		    failure->clues[i].call.address == clue->call.address)
			return;
	failure->clues[failure->nclues++] = *clue;
}

static bool is_of_program(const struct definition *definition)
{
	return definition->definer == DEFINED_STORE && definition->site->kind == CODE_PROGRAM;
}

void define_each_earlier(Addr address, SizeT size, uint32_t before,
			 bool (*tell)(const struct definition *definition, void *context), void *context)
{
	for (uint32_t number = before - 1; number; number--) {
		const struct definition *at = define_numbered(number);

		if (!at)
			return;
		if (at->address >= address + size || address >= at->address + at->size || at->first != number)
			continue;
		if (at->definer == DEFINED_ALLOCATED || at->definer == DEFINED_CLEARED)
			return;
		if (is_of_program(at) && !tell(at, context))
			return;
	}
}

/* ---- counts ---- */

/* The load, of those that a mark stands for, of that location. */
static const struct load *load_of(uint64_t mark, Addr address)
{
	const struct load *first = define_load_numbered(MARK_FIRST(mark));
	const struct load *second = define_load_numbered(MARK_SECOND(mark));

	return first && first->site && first->address == address      ? first
	       : second && second->site && second->address == address ? second
								      : NULL;
}

static bool tell_drop(const struct definition *definition, void *context)
{
	struct isolate_failure *failure = context;
	const struct load *load = load_of(definition->mark, definition->address);
	const struct definition *from = load ? define_numbered(load->definition[0]) : NULL;
	int shift = 64 - 8 * (int)definition->size;

	if (!from || definition->size > 8 || from->address != definition->address ||
	    from->size != definition->size)
		return true;
	bool lowered = (int64_t)(definition->value << shift) < (int64_t)(from->value << shift);

	if (lowered)
		define_add_clue(failure,
				&(struct isolate_clue){ .kind = CLUE_DROPPED,
							.place = define_place(definition->site->pc, 0),
							.call = define_calling_place(definition->caller),
							.value = definition->value,
							.full = from->value,
							.thread = definition->thread,
							.write = 1 });
	return true;
}

/* A branch decided for the free by a number that the program counts: whoever lowered it. */
static void tell_counts(struct isolate_failure *failure, const struct definition *freed)
{
	const struct load *load = define_load_numbered(MARK_FIRST(freed->decided));

	if (load && load->site && load->site->size <= 8)
		define_each_earlier(load->address, load->site->size, freed->first, tell_drop, failure);
}

static Addr current_caller(const struct value_thread *thread, uint32_t outer)
{
	uint32_t i = thread->nreturns;

	while (i && code_kind(thread->returns[i - 1] - 1) != CODE_PROGRAM)
		i--;
	return i > outer ? thread->returns[i - 1 - outer] - 1 : 0;
}

void define_tell_free(struct isolate_failure *failure, Addr address)
{
	const struct definition *freed = define_numbered(define_at(address));

	if (!freed || freed->definer != DEFINED_FREED)
		return;
	define_add_clue(failure, &(struct isolate_clue){ .kind = CLUE_CALL,
							 .place = define_place(0, freed->call),
							 .call = define_calling_place((Addr)freed->mark),
							 .thread = freed->thread });
	tell_counts(failure, freed);
	/* A function of a library that used it stands in the program's call. */
	define_add_clue(failure, &(struct isolate_clue){ .kind = CLUE_CALL,
							 .place = failure->place,
							 .call = define_calling_place(current_caller(
								 define_thread(), !failure->place.own)),
							 .thread = failure->thread });
}

/* ---- how much ---- */

#define REQUEST_ARGUMENTS 2u /* words of a client call before them: the request and the function */

#define COPIES_MOST 8
/* What code that is not the program's had only passed on. */
static uint64_t before_copies(uint64_t mark)
{
	for (int i = 0; i < COPIES_MOST && mark & MARK_COPY; i++) {
		const struct load *load = define_load_numbered(MARK_FIRST(mark));
		const struct definition *from = load ? define_numbered(load->definition[0]) : NULL;

		if (!from || from->definer != DEFINED_STORE || from->site->kind == CODE_PROGRAM ||
		    from->address != load->address || !define_is_loaded(from->mark))
			break;
		mark = from->mark;
	}
	return mark;
}

uint64_t define_size_mark(SizeT size)
{
	Addr words = 0;
	uint64_t marks[2] = { 0 };

	if (!define.on || !grind.thread)
		return 0;
	VG_(get_shadow_regs_area)(grind.thread->tid, (UChar *)&words, 0, REGISTER(RAX), sizeof words);
	const Addr *argument = (const Addr *)words + REQUEST_ARGUMENTS;

	if (!VG_(am_is_valid_for_client)((Addr)argument, 2 * sizeof *argument, VKI_PROT_READ))
		return 0;
	for (int i = 0; i < 2; i++) {
		const struct definition *from = define_numbered(define_at((Addr)&argument[i]));

		marks[i] = from ? before_copies(from->mark) : 0;
	}
	return argument[0] == size                 ? marks[0]
	       : argument[1] == size               ? marks[1]
	       : argument[0] * argument[1] == size ? define_merge(marks[0], marks[1])
						   : 0;
}

#define EXTENT_LOADS 16u
#define BACK 8 /* from one store to the one before */
static const struct load *stored_from(const struct load *load)
{
	const struct definition *from = define_numbered(load->definition[0]);

	return from && from->definer == DEFINED_STORE ? define_load_numbered(MARK_FIRST(from->mark)) : NULL;
}

/* Where a number that says where to read had lost bits, also before it was copied. */
static bool tell_index_cut(struct isolate_failure *failure, uint32_t number)
{
	const struct load *load = define_load_numbered(number);

	if (load && load->site && define_tell_cut(failure, number, false))
		return true;
	for (int i = 0; i < BACK && load && load->site && load->site->size < 8; i++) {
		if (define_tell_read_cut(failure, load, false))
			return true;
		load = stored_from(load);
	}
	return false;
}

/* A number may have been read at a wrong place. */
static void tell_misplaced(struct isolate_failure *failure, const struct load *load)
{
	for (int i = 0; i < BACK && load && load->site; i++) {
		if (tell_index_cut(failure, MARK_SECOND(load->mark)) ||
		    tell_index_cut(failure, MARK_FIRST(load->mark)))
			return;
		load = stored_from(load);
	}
}

/* Where the loads were made that a number came of, and who had written what these read. */
static void tell_number(struct isolate_failure *failure, uint32_t kind, uint32_t number, uint32_t *left)
{
	const struct load *load = define_load_numbered(number);

	if (!load || !*left)
		return;
	--*left;
	if (!load->site) {
		tell_number(failure, kind, MARK_FIRST(load->mark), left);
		tell_number(failure, kind, MARK_SECOND(load->mark), left);
		return;
	}
	const struct definition *from = define_numbered(load->definition[0]);
	struct isolate_clue clue = { .kind = kind,
				     .place = define_place(load->site->pc, load->call),
				     .thread = load->thread };

	define_add_clue(failure, &clue);
	tell_misplaced(failure, load);
	if (!from || from->definer != DEFINED_STORE)
		return;
	clue.place = define_place(from->site->pc, from->call);
	clue.thread = from->thread;
	clue.write = 1;
	define_add_clue(failure, &clue);
	define_tell_read_cut(failure, load, true);
}

static bool shares_load(uint64_t a, uint64_t b)
{
	uint32_t first = MARK_FIRST(a), second = MARK_SECOND(a);

	return (first && (first == MARK_FIRST(b) || first == MARK_SECOND(b))) ||
	       (second && (second == MARK_FIRST(b) || second == MARK_SECOND(b)));
}

/* The branches that had gone by the number: checks that let it through. */
static void tell_checks(struct isolate_failure *failure, uint64_t mark)
{
	const struct value_thread *thread = define_thread();

	for (uint32_t depth = 0; depth < BRANCH_DEPTHS; depth++)
		for (uint32_t i = 0; i < BRANCH_KEPT; i++) {
			const struct value_branch *branch = &thread->branches[depth][i];

			if (branch->site && shares_load(branch->mark, mark))
				define_add_clue(failure, &(struct isolate_clue){
								 .kind = CLUE_LENGTH,
								 .place = define_place(branch->site->pc, 0),
								 .thread = failure->thread });
		}
}

static void tell_mark(struct isolate_failure *failure, uint32_t kind, uint64_t mark)
{
	uint32_t left = EXTENT_LOADS;

	define_tell_cut(failure, mark, true);
	tell_number(failure, kind, MARK_FIRST(mark), &left);
	tell_number(failure, kind, MARK_SECOND(mark), &left);
	if (define_is_loaded(mark))
		tell_checks(failure, mark);
}

/* Is it an instruction that compilers make of memcpy or memset (rep movs, rep stos)? */
static bool repeats(Addr pc)
{
	const UChar *code = (const UChar *)pc;

	return *code == 0xf3 && (code[1] == 0x48 || (code[1] & 0xf0) == 0xa0);
}

static uint64_t count_mark(void)
{
	uint64_t mark = 0;

	VG_(get_shadow_regs_area)(grind.thread->tid, (UChar *)&mark, 1, REGISTER(RCX), sizeof mark);
	return mark;
}

void define_tell_extent(struct isolate_failure *failure, uint64_t size_mark)
{
	const struct value_thread *thread = define_thread();
	Addr pc = VG_(get_IP)(grind.thread->tid);
	uint32_t i = thread->nreturns;

	while (i && code_kind(thread->returns[i - 1] - 1) != CODE_PROGRAM)
		i--;
	bool own = code_kind(pc) == CODE_PROGRAM;

	if (own && failure->kind == FAILED_BEYOND) /* the loop's last branch */
		tell_mark(failure, CLUE_LENGTH, repeats(pc) ? count_mark() : thread->decided);
	if (!own && i && thread->called.back == thread->returns[i - 1])
		for (uint32_t a = 1; a < PASSED; a++) /* the first one is what it is done to */
			if (!define_is_readable(thread->called.passed.values[a], 1))
				tell_mark(failure, CLUE_LENGTH, thread->called.passed.marks[a]);
	if (size_mark)
		tell_mark(failure, CLUE_SIZE, size_mark);
}
