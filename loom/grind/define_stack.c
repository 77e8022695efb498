/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A stack that is used up: the calls that come again and again, what the branch had gone by
 * that should have ended them, and where the data was written that leads round and round. */
#include "loom/grind/define.h"

#define GUARD (1u << 20) /* beside the stack pointer: what a function keeps on the stack, about */

bool define_is_below_stack(ThreadId tid, const struct value_thread *thread)
{
	Addr sp = VG_(get_SP)(tid), address = thread->access.address;

	return thread->nreturns && address + GUARD > sp && address < sp + GUARD &&
	       !define_is_readable(address, 1) && sp < thread->frames[0];
}

#define INNERMOST 256u /* calls that are looked at */
#define AGAIN 4u       /* calls that were made from one place while it was in them: it calls itself */

static uint32_t first_of_last(const struct value_thread *thread)
{
	return thread->nreturns > INNERMOST ? thread->nreturns - INNERMOST : 0;
}

/* How many of the innermost calls, from that one outwards, were made from where it was. */
static uint32_t times(const struct value_thread *thread, uint32_t call, uint32_t last)
{
	uint32_t n = 0;

	for (uint32_t i = last; i <= call; i++)
		n += thread->returns[i] == thread->returns[call];
	return n;
}

/* The last whole round, as numbers of definitions. */
struct round {
	uint32_t from, to;
};

/* The calls that come again. */
static struct round tell_calls(struct isolate_failure *failure, const struct value_thread *thread)
{
	uint32_t last = first_of_last(thread);
	struct round round = { 0 };

	for (uint32_t call = thread->nreturns; call-- > last;) {
		Addr back = thread->returns[call];

		if (code_kind(back - 1) != CODE_PROGRAM || times(thread, call, last) < AGAIN)
			continue;
		if (!round.to)
			round.to = thread->entered[call].definition;
		for (uint32_t i = call; !round.from && i-- > last;)
			round.from = thread->returns[i] == back ? thread->entered[i].definition : 0;
		define_add_clue(failure, &(struct isolate_clue){ .kind = CLUE_RECURSION,
								 .place = define_place(0, back - 1),
								 .thread = failure->thread });
	}
	return round;
}

/* Did it go both ways in the round? Then it is one of a loop. */
static bool turns(const struct value_thread *thread, const struct value_branch *branch, struct round round)
{
	for (uint32_t i = 0; i < DEEP_KEPT && i < thread->ndeep; i++)
		if (thread->deep[i].branch.site == branch->site &&
		    thread->deep[i].branch.taken != branch->taken &&
		    thread->deep[i].definition >= round.from && thread->deep[i].definition <= round.to)
			return true;
	return false;
}

/* The last branch in the round before the call that began the next one; NULL: none is known. */
static const struct value_branch *last_of_round(const struct value_thread *thread, struct round round)
{
	for (uint32_t i = 0; i < DEEP_KEPT && i < thread->ndeep; i++) {
		uint32_t at = (thread->ndeep - 1 - i) % DEEP_KEPT;
		const struct value_branch *branch = &thread->deep[at].branch;

		if (thread->deep[at].definition >= round.from && thread->deep[at].definition <= round.to &&
		    !turns(thread, branch, round))
			return branch;
	}
	return NULL;
}

/* What the round wrote last there or, when nothing did, beside it, as other fields of the same thing: compilers leave a
 * write out that the next one undoes. NULL: nothing. */
static const struct definition *written_in(const struct isolate_failure *failure, const struct load *load,
					   struct round round)
{
	const struct definition *there = define_numbered(define_at(load->address)), *best = NULL;
	SizeT size = load->site->size;

	if (there)
		return there->first >= round.from && there->definer == DEFINED_STORE ? there : NULL;
	for (uint32_t number = round.from; number < round.to; number++) {
		const struct definition *at = define_numbered(number);
		bool own = at && at->definer == DEFINED_STORE && at->thread == failure->thread;

		if (own && (at->address + at->size == load->address || at->address == load->address + size))
			best = at;
	}
	return best && best->site->kind == CODE_PROGRAM ? best : NULL;
}

#define GUARDS 2u
/* Is it in the thread's frames below the address, which are the round's own? */
static bool is_in_round(const struct load *load, Addr frames)
{
	return load->address < frames && load->address + GUARD > frames;
}

static void tell_guard(struct isolate_failure *failure, const struct value_branch *branch,
		       const struct definition *written)
{
	define_add_clue(failure, &(struct isolate_clue){ .kind = CLUE_GUARD,
							 .place = define_place(branch->site->pc, 0),
							 .thread = failure->thread });
	if (written)
		define_add_clue(failure, &(struct isolate_clue){
						 .kind = CLUE_UNDONE,
						 .place = define_place(written->site->pc, written->call),
						 .call = define_calling_place(written->caller),
						 .thread = written->thread,
						 .write = 1 });
}

/* The same place had read the same location before the round began: it finds the same there each time. */
static bool was_read_before(const struct value_thread *thread, const struct value_branch *branch,
			    const struct load *load, struct round round)
{
	for (uint32_t i = 0; i < DEEP_KEPT && i < thread->ndeep; i++) {
		const struct value_branch *other = &thread->deep[i].branch;
		const struct load *before = define_load_numbered(MARK_FIRST(other->mark));

		if (other->site == branch->site && thread->deep[i].definition < round.from && before &&
		    before->site == load->site && before->address == load->address)
			return true;
	}
	return false;
}

/* Branches that go in each round the same way: by a mark or a count that the round writes anew, or, with `same`, by what it
 * finds each time as it was. */
static void tell_guards(struct isolate_failure *failure, const struct value_thread *thread,
			struct round round, bool same)
{
	uint32_t n = thread->ndeep < DEEP_KEPT ? thread->ndeep : DEEP_KEPT, told[GUARDS] = { 0 }, ntold = 0;
	Addr frames = thread->frames[first_of_last(thread)];

	for (uint32_t i = n; i > 0 && ntold < GUARDS; i--) {
		uint32_t at = (thread->ndeep - i) % DEEP_KEPT;
		const struct value_branch *branch = &thread->deep[at].branch;
		uint32_t number = MARK_FIRST(branch->mark);
		const struct load *load = define_load_numbered(number);

		if (thread->deep[at].definition < round.from || thread->deep[at].definition > round.to ||
		    turns(thread, branch, round) || !load || !load->site || is_in_round(load, frames) ||
		    number == told[0]) /* compilers go by it again where it is a constant as well */
			continue;
		const struct definition *written = same ? NULL : written_in(failure, load, round);

		if (!written && !(same && was_read_before(thread, branch, load, round)))
			continue;
		told[ntold++] = number;
		tell_guard(failure, branch, written);
	}
}

void define_end_of_stack(const struct value_thread *thread, const struct value_branch *decided, Addr ip)
{
	struct isolate_failure *failure = define_begin(FAILED_STACK, ip);

	failure->address = thread->access.address;
	failure->size = thread->access.site->size;
	failure->write = thread->access.write;
	struct round round = tell_calls(failure, thread);
	const struct value_branch *last = last_of_round(thread, round);

	decided = last ? last : decided;
	uint32_t before = failure->nclues;

	tell_guards(failure, thread, round, false);
	if (failure->nclues == before)
		tell_guards(failure, thread, round, true);
	if (!decided)
		return;
	failure->branch = decided->site->pc;
	failure->taken = decided->taken;
	define_add_uses(failure, define_of_round(decided->mark, thread->frames[first_of_last(thread)]));
}
