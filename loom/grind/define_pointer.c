/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Of a block that is used after it was freed: the pointer that was still kept, and the
 * one by which it was freed. A pointer is copied from frame to frame; the copy that tells
 * something is the one in memory that outlives them. */
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
static struct isolate_hop kept_pointer(uint32_t number)
{
	struct isolate_use use = { 0 };

	define_follow(&use, number);
	for (uint32_t i = 0; i < use.nhops; i++) {
		if (!is_in_frame(&use.hops[i]))
			return use.hops[i];
		if (!use.hops[i].copied)
			break;
	}
	return (struct isolate_hop){ 0 };
}

void define_tell_pointers(struct isolate_failure *failure, uint64_t used, Addr address)
{
	const struct definition *freed = define_numbered(define_at(address));
	uint32_t base = define_base(used, address);

	if (base)
		failure->kept = kept_pointer(base);
	if (freed && freed->definer == DEFINED_FREED && freed->where)
		failure->freed_by = kept_pointer(MARK_FIRST(freed->where));
}
