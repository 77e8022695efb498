/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The failure as isolate needs it: what the thread did last tells of which kind it is,
 * the marks of what it used tell where that was loaded from, and the log of definitions
 * who had put it there, and so on back through what that was copied or computed from. */
#include "loom/grind/define.h"

static bool is_readable(Addr address, SizeT size)
{
	return VG_(am_is_valid_for_client)(address, size, VKI_PROT_READ);
}

static uint64_t value_at(Addr address, SizeT size)
{
	uint64_t value = 0;

	if (size <= 8 && is_readable(address, size))
		VG_(memcpy)(&value, (void *)address, size);
	return value;
}

static uint32_t module_number(const HChar *path)
{
	struct isolate_area *area = define.area;
	uint32_t i = 0;

	while (i < area->nmodules && VG_(strcmp)(area->modules[i], path) != 0)
		i++;
	if (i == area->nmodules && i + 1 < ISOLATE_MODULES) {
		VG_(strncpy)(area->modules[i], path, ISOLATE_PATH - 1);
		area->nmodules++;
	}
	return i;
}

/* The instruction when it is the program's, else the program's call that led to it. */
static struct isolate_place place_of(Addr pc, Addr call)
{
	bool own = pc && code_kind(pc) == CODE_PROGRAM;
	Addr at = own ? pc : call;
	const DebugInfo *info = at ? VG_(find_DebugInfo)(VG_(current_DiEpoch)(), at) : NULL;

	if (!info)
		return (struct isolate_place){ 0 };
	return (struct isolate_place){ .address = at - (Addr)VG_(DebugInfo_get_text_bias)(info),
				       .module = module_number(VG_(DebugInfo_get_filename)(info)),
				       .own = own };
}

static bool is_on_stack(Addr address)
{
	Addr sp = VG_(get_SP)(grind.thread->tid), high = grind.thread->stack_high;

	return address >= sp - 4096 && address <= (high > sp ? high : sp + (8u << 20));
}

static struct isolate_definition describe(uint32_t number, Addr address, SizeT size)
{
	const struct definition *from = define_numbered(number);

	if (!from)
		return (struct isolate_definition){ .address = address,
						    .size = size,
						    .definer = number                 ? DEFINED_LOST
							       : is_on_stack(address) ? DEFINED_FRAME
										      : DEFINED_NOT };
	return (struct isolate_definition){ .place = place_of(from->site ? from->site->pc : 0, from->call),
					    .key = from->site ? from->site->pc : from->call,
					    .instance = from->instance,
					    .when = from->number,
					    .address = from->address,
					    .size = from->size,
					    .value = from->value,
					    .order = from->order,
					    .thread = from->thread,
					    .definer = from->definer };
}

static void follow(struct isolate_use *use, uint32_t number)
{
	while (use->nhops < ISOLATE_HOPS) {
		const struct load *load = define_load_numbered(number);

		if (!load)
			return;
		struct isolate_hop *hop = &use->hops[use->nhops++];
		const struct definition *from = define_numbered(load->definition);

		*hop = (struct isolate_hop){ .place = place_of(load->site->pc, load->call),
					     .address = load->address,
					     .size = load->site->size,
					     .order = load->order,
					     .thread = load->thread,
					     .definition = describe(load->definition, load->address,
								    load->site->size) };
		hop->value = from && from->address == load->address && from->size >= load->site->size &&
					     from->definer == DEFINED_STORE
				     ? from->value
				     : value_at(load->address, load->site->size);
		hop->points = load->site->size == 8 && is_readable(hop->value, 1);
		if (!from || from->definer != DEFINED_STORE || from->address != load->address)
			return;
		hop->copied = from->mark & MARK_COPY && from->size == load->site->size &&
			      from->site->kind != CODE_LIBRARY;
		number = MARK_FIRST(from->mark);
	}
}

static void add_uses(struct isolate_failure *failure, uint64_t mark)
{
	uint32_t numbers[] = { MARK_FIRST(mark), MARK_SECOND(mark) };

	for (int i = 0; i < 2; i++)
		if (numbers[i] && failure->nuses < ISOLATE_USES) {
			follow(&failure->uses[failure->nuses], numbers[i]);
			failure->nuses += failure->uses[failure->nuses].nhops > 0;
		}
}

static struct isolate_failure *begin(uint32_t kind, Addr pc)
{
	struct isolate_failure *failure = &define.area->failure;

	if (!define.on || failure->kind)
		return NULL;
	failure->kind = kind;
	failure->thread = grind.thread->number;
	failure->place = place_of(pc, grind.call);
	return failure;
}

/* The location itself is what was used: who freed or allocated it is its definition. */
static void add_location(struct isolate_failure *failure, Addr address, SizeT size, Addr pc)
{
	failure->uses[failure->nuses++] = (struct isolate_use){
		.nhops = 1,
		.hops = { { .place = place_of(pc, grind.call),
			    .address = address,
			    .size = size,
			    .thread = grind.thread->number,
			    .order = *grind.thread->order,
			    .definition = describe(define_at(address), address, size) } }
	};
}

void define_dead(Addr address, SizeT size, bool write)
{
	if (!define.on)
		return;
	const struct definition *from = define_numbered(define_at(address));
	bool freed = from && from->definer == DEFINED_FREED;
	Addr pc = VG_(get_IP)(grind.thread->tid);
	struct isolate_failure *failure = begin(freed ? FAILED_DEAD : FAILED_BEYOND, pc);

	if (!failure)
		return;
	failure->address = address;
	failure->size = size;
	failure->write = write;
	if (freed)
		add_location(failure, address, size, pc);
	else
		add_uses(failure, define.hooked);
}

void define_freed_twice(Addr address)
{
	struct isolate_failure *failure = define.on ? begin(FAILED_FREE, 0) : NULL;

	if (!failure)
		return;
	failure->address = address;
	add_location(failure, address, 1, 0);
}

void define_fatal(ThreadId tid)
{
	if (!define.on || define.area->failure.kind)
		return;
	const struct value_thread *thread = define_thread();
	Addr ip = VG_(get_IP)(tid);
	struct isolate_failure *failure;

	if (thread->access.site && thread->access.site->pc == ip) {
		failure = begin(FAILED_ACCESS, ip);
		failure->address = thread->access.address;
		failure->size = thread->access.site->size;
		failure->write = thread->access.write;
		add_uses(failure, thread->access.mark);
	} else if (thread->jump.site && thread->jump.address == ip) {
		failure = begin(FAILED_JUMP, thread->jump.site->pc);
		failure->address = ip;
		add_uses(failure, thread->jump.mark);
		/* Nothing but a call writes return addresses: whatever else did is no innocent copy. */
		for (uint32_t i = 0; thread->jump.returns && i < failure->nuses; i++)
			failure->uses[i].hops[0].copied = 0;
	} else if (thread->operand.site && thread->operand.site->pc == ip) {
		failure = begin(FAILED_VALUE, ip);
		add_uses(failure, thread->operand.mark);
	} else if (thread->branch.site) {
		failure = begin(FAILED_BRANCH, thread->branch.site->pc);
		failure->branch = thread->branch.site->pc;
		failure->taken = thread->branch.address;
		add_uses(failure, thread->branch.mark);
	} else {
		begin(FAILED_BRANCH, ip);
	}
}
