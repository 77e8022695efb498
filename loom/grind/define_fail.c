/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The failure as isolate needs it: what the thread did last tells of which kind it is, and
 * the marks of what it used tell where that was loaded from. */
#include "loom/grind/define.h"

static void add_use(struct isolate_failure *failure, uint32_t number)
{
	const struct load *load = define_load_numbered(number);

	if (!load || failure->nuses == ISOLATE_USES)
		return;
	if (!load->site) { /* stands for two */
		add_use(failure, MARK_FIRST(load->mark));
		add_use(failure, MARK_SECOND(load->mark));
		return;
	}
	define_follow(&failure->uses[failure->nuses], number);
	failure->nuses += failure->uses[failure->nuses].nhops > 0;
}

/* Memory of a block that was used, or that a value was copied from, and that nobody had written. */
static Addr unwritten(const struct isolate_use *use)
{
	uint32_t i = 0;

	while (i + 1 < use->nhops && use->hops[i].copied)
		i++;
	const struct isolate_hop *hop = &use->hops[i];
	bool is = hop->definition.definer == DEFINED_ALLOCATED || hop->definition.definer == DEFINED_CLEARED;

	return i < use->nhops && is && define_numbered(define_at(hop->address)) ? hop->address : 0;
}

void define_add_uses(struct isolate_failure *failure, uint64_t mark)
{
	add_use(failure, MARK_FIRST(mark));
	add_use(failure, MARK_SECOND(mark));
	Addr address = unwritten(&failure->uses[0]);

	if (address)
		define_tell_length(failure, address);
	for (uint32_t i = 0; i < failure->nuses; i++)
		define_tell_renewed(failure, &failure->uses[i]);
	define_tell_cut(failure, mark, false);
	define_list_reads(failure, mark);
}

struct isolate_failure *define_begin(uint32_t kind, Addr pc)
{
	struct isolate_failure *failure = &define.area->failure;

	if (!define.on || failure->kind)
		return NULL;
	failure->kind = kind;
	failure->thread = grind.thread->number;
	failure->place = define_place(pc, site_in_header(pc) ? define_own_call() : define_call());
	return failure;
}

/* The location itself is what was used: who freed or allocated it is its definition. */
static void add_location(struct isolate_failure *failure, Addr address, SizeT size, bool write, Addr pc)
{
	failure->uses[failure->nuses++] = (struct isolate_use){
		.nhops = 1,
		.hops = { { .place = define_place(pc, site_in_header(pc) ? define_own_call() : define_call()),
			    .address = address,
			    .size = size,
			    .thread = grind.thread->number,
			    .order = *grind.thread->order,
			    .definition = define_describe(define_at(address), address, size) } }
	};
	failure->reads[failure->nreads++] = (struct isolate_read){
		.place = define_place(pc, site_in_header(pc) ? define_own_call() : define_call()),
		.address = address,
		.size = size,
		.order = *grind.thread->order,
		.thread = grind.thread->number,
		.write = write
	};
}

void define_dead(Addr address, SizeT size, bool write)
{
	if (!define.on)
		return;
	const struct definition *from = define_numbered(define_at(address));
	bool freed = from && from->definer == DEFINED_FREED;
	Addr pc = VG_(get_IP)(grind.thread->tid);
	struct isolate_failure *failure = define_begin(freed ? FAILED_DEAD : FAILED_BEYOND, pc);

	if (!failure)
		return;
	failure->address = address;
	failure->size = size;
	failure->write = write;
	if (freed) {
		add_location(failure, address, size, write, pc);
		define_list_reads(failure, define.hooked);
		define_tell_pointers(failure, define.hooked, address);
		define_tell_free(failure, address);
	} else {
		failure->made = define_place(0, heap_made_by(address));
		define_add_uses(failure, define.hooked);
		define_tell_extent(failure, heap_size_mark(address));
	}
}

void define_freed_wrongly(Addr address, bool was_block)
{
	struct isolate_failure *failure =
		define.on ? define_begin(was_block ? FAILED_FREE : FAILED_NO_BLOCK, 0) : NULL;

	if (!failure)
		return;
	failure->address = address;
	if (!was_block) {
		define_add_uses(failure, define_freed_by(address));
		return;
	}
	add_location(failure, address, 1, true, 0);
	define_list_reads(failure, 0);
	define_tell_pointers(failure, define_freed_by(address), address);
	define_tell_free(failure, address);
}

/* The address was no value of memory: a function returned NULL, say. A branch decided that, and the caller used it. */
static void came_from_nowhere(struct isolate_failure *failure, const struct value_thread *thread,
			      const struct value_branch *decided)
{
	Addr call = thread->nreturns ? thread->returns[thread->nreturns - 1] - 1 : 0;

	if (call && code_kind(call) == CODE_PROGRAM)
		failure->caller = define_place(call, 0);
	if (decided)
		define_add_uses(failure, decided->mark);
}

void define_fatal(ThreadId tid)
{
	if (!define.on || define.area->failure.kind)
		return;
	const struct value_thread *thread = define_thread();
	Addr ip = VG_(get_IP)(tid), call = 0;
	struct isolate_failure *failure;

	const struct value_branch *decided = define_deciding_branch(thread);

	if (VG_(in_generated_code) && thread->divides) {
		failure = define_begin(FAILED_VALUE, thread->operand.site->pc);
		define_add_uses(failure, thread->operand.mark);
	} else if (thread->access.site && define_is_below_stack(tid, thread)) {
		define_end_of_stack(thread, decided, ip);
	} else if (thread->access.site && thread->access.site->pc == ip) {
		failure = define_begin(FAILED_ACCESS, ip);
		failure->address = thread->access.address;
		failure->size = thread->access.site->size;
		failure->write = thread->access.write;
		define_add_uses(failure, thread->access.mark);
		define_tell_extent(failure, 0);
		if (!failure->nuses)
			came_from_nowhere(failure, thread, decided);
	} else if (thread->jump.site && thread->jump.address == ip) {
		failure = define_begin(FAILED_JUMP, thread->jump.site->pc);
		failure->address = ip;
		define_add_uses(failure, thread->jump.mark);
		/* Nothing but a call writes return addresses: whatever else did is no innocent copy. */
		for (uint32_t i = 0; thread->jump.returns && i < failure->nuses; i++)
			failure->uses[i].hops[0].copied = 0;
	} else if (define_ended_by(thread, &call)) {
		failure = define_begin(FAILED_CALL, call);
		define_add_uses(failure, define_ended_by(thread, &call));
	} else if (decided) {
		failure = define_begin(FAILED_BRANCH, decided->site->pc);
		failure->branch = decided->site->pc;
		failure->taken = decided->taken;
		define_add_uses(failure, decided->mark);
	} else {
		define_begin(FAILED_BRANCH, ip);
	}
}

#define ROUNDS 64u
/* Whoever goes round and round follows what it has read before: of these locations the one that was written last. What
 * lies in the thread's frames below an address was only passed on. The read of it, and in *when its definition. */
static uint32_t youngest_of_round(uint32_t number, Addr frames, uint32_t *when)
{
	Addr sp = VG_(get_SP)(grind.thread->tid);
	uint32_t best = 0;

	*when = 0;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct load *load = define_load_numbered(number);

		if (!load || !load->site)
			break;
		const struct definition *from = define_numbered(load->definition[0]);
		bool passed_on = load->address >= sp && load->address < frames && from;

		if (!passed_on && (!best || (from && from->first > *when))) {
			*when = from ? from->first : 0;
			best = number;
		}
		number = MARK_FIRST(passed_on && from->definer == DEFINED_STORE ? from->mark : load->mark);
	}
	return best;
}

uint64_t define_of_round(uint64_t mark, Addr frames)
{
	uint32_t one, other;
	uint32_t first = youngest_of_round(MARK_FIRST(mark), frames, &one);
	uint32_t second = youngest_of_round(MARK_SECOND(mark), frames, &other);

	if (frames && first && second) /* of both only one leads round */
		return one > other ? first : second;
	if (frames && (first || second))
		return first ? first : second;
	return (first ? first : MARK_FIRST(mark)) | (mark & ~MARK_NUMBER & ~MARK_COPY);
}

void define_hung(void)
{
	if (!define.on || define.area->failure.kind || !grind.thread)
		return;
	const struct value_branch *decided = define_deciding_branch(define_thread());
	struct isolate_failure *failure =
		define_begin(FAILED_HANG, decided ? decided->site->pc : VG_(get_IP)(grind.thread->tid));

	if (decided) {
		failure->branch = decided->site->pc;
		failure->taken = decided->taken;
	}
	define_add_uses(failure, decided ? define_of_round(decided->mark, 0) : 0);
}
