/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Of a block that is used after it was freed: the pointer that was still kept, and the
 * one by which it was freed. A pointer is copied from frame to frame; the copies that tell
 * something are the one that was older than the free, and the one in memory that outlives
 * the frames. */
#include "loom/grind/define.h"
#include "loom/grind/shadow.h"
#include "loom/grind/system_calls.h"

#define ARGUMENT 2 /* of a client call, behind the request and the function */

uint64_t define_freed_by(Addr block)
{
	Addr words = 0;

	VG_(get_shadow_regs_area)(grind.thread->tid, (UChar *)&words, 0, REGISTER(RAX), sizeof words);
	const Addr *argument = (const Addr *)words + ARGUMENT;

	if (!VG_(am_is_valid_for_client)((Addr)argument, sizeof *argument, VKI_PROT_READ) ||
	    *argument != block)
		return 0;
	const struct definition *from = define_numbered(define_at((Addr)argument));

	return from ? from->mark : 0;
}

static bool is_in_frame(const struct isolate_hop *hop)
{
	const struct thread *thread = thread_numbered(hop->thread);

	return thread && thread_has_stack_at(thread, hop->address) && !heap_holds(hop->address);
}

/* The read of a pointer from memory that is no frame. */
static struct isolate_hop read_outside(const struct isolate_use *use)
{
	for (uint32_t i = 0; i < use->nhops; i++) {
		if (!is_in_frame(&use->hops[i]))
			return use->hops[i];
		if (!use->hops[i].copied)
			break;
	}
	return (struct isolate_hop){ 0 };
}

#define MOVES_MOST 4096u
/* A pointer that was only moved on where it lies, from byte to byte say, is the one that was put there before that. */
static uint32_t put_there(uint32_t number)
{
	for (uint32_t i = 0; i < MOVES_MOST; i++) {
		const struct load *load = define_load_numbered(number);
		const struct definition *from = load ? define_numbered(load->definition[0]) : NULL;
		const struct load *next = from && from->definer == DEFINED_STORE
						  ? define_load_numbered(MARK_FIRST(from->mark))
						  : NULL;

		if (!next || !next->site || next->address != load->address)
			break;
		number = next->number;
	}
	return number;
}

/* Was the pointer passed on to the next hop as it was, or as one to a field of what it points to? */
static bool is_passed_on(const struct isolate_use *use, uint32_t i)
{
	const struct isolate_hop *hop = &use->hops[i], *next = hop + 1;

	return hop->copied || (i + 1 < use->nhops && next->size == 8 && !hop->placed &&
			       hop->value - next->value + NEAR_BASE < 2 * NEAR_BASE);
}

/* The read of a pointer that had been put where it was read before the block was freed: what was passed on since came of
 * it. */
static struct isolate_hop read_kept(uint32_t number, const struct definition *freed)
{
	struct isolate_use use = { 0 };

	define_follow(&use, put_there(number));
	for (uint32_t i = 0; i < use.nhops; i++) {
		const struct isolate_hop *hop = &use.hops[i];

		if (hop->definition.definer == DEFINED_STORE && hop->definition.when < freed->first)
			return *hop;
		if (!is_passed_on(&use, i))
			break;
	}
	return (struct isolate_hop){ 0 };
}

void define_tell_pointers(struct isolate_failure *failure, uint64_t used, Addr address)
{
	const struct definition *freed = define_numbered(define_at(address));
	uint32_t base = define_made_of(used, address).base;
	struct isolate_use freed_by = { 0 };

	if (!freed || freed->definer != DEFINED_FREED)
		return;
	if (base) {
		struct isolate_use use = { .nhops = 1 };

		use.hops[0] = failure->kept = read_kept(base, freed);
		define_tell_renewed(failure, &use);
	}
	if (freed->where)
		define_follow(&freed_by, MARK_FIRST(freed->where));
	failure->freed_by = read_outside(&freed_by);
}
