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

struct isolate_place define_place(Addr pc, Addr call)
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

	if (high >= define.arguments && address >= define.arguments && address <= high)
		return false; /* the program's arguments, written before it began */
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
	bool freed = from->definer == DEFINED_FREED;

	return (struct isolate_definition){ .place =
						    define_place(from->site ? from->site->pc : 0, from->call),
					    .key = from->site ? from->site->pc : from->call,
					    .instance = from->instance,
					    .when = from->number,
					    .address = from->address,
					    .size = from->size,
					    .value = freed ? 0 : from->value,
					    .callers = { define_place(freed ? from->mark : 0, 0),
							 define_place(freed ? from->value : 0, 0) },
					    .order = from->order,
					    .thread = from->thread,
					    .definer = from->definer };
}

/* Did the definition pass on, as it was or widened or cut, what the load had read? *address and *size, of what was
 * passed on, are then those of what was read. */
static bool passes_on(const struct definition *definition, const struct load *load, Addr *address,
		      SizeT *size)
{
	if (!load || !load->site || !(definition->mark & MARK_COPY))
		return false;
	if (definition->size != load->site->size && *address != definition->address)
		return false; /* only the lowest bytes are where they were */
	*address = load->address + (*address - definition->address);
	if (*size > load->site->size)
		*size = load->site->size;
	return true;
}

static bool is_inside(const struct definition *definition, Addr address, SizeT size)
{
	return address >= definition->address && address + size <= definition->address + definition->size;
}

bool define_saves_register(const struct definition *definition)
{
	if (definition->definer != DEFINED_STORE || definition->size != 8)
		return false;
	const UChar *code = (const UChar *)definition->site->pc;

	code += *code == 0x41;
	return (*code & 0xf8) == 0x50;
}

/* Hops back from a load, of which `size` bytes at `address` are of interest. */
static void follow(struct isolate_use *use, uint32_t number, Addr address, SizeT size)
{
	const struct load *load = define_load_numbered(number);

	while (load && load->site && use->nhops < ISOLATE_HOPS) {
		if (!size) {
			address = load->address;
			size = load->site->size;
		}
		struct isolate_hop *hop = &use->hops[use->nhops++];
		uint32_t defined = load->definition[(address - load->address) / 8 % LOAD_WORDS];
		const struct definition *from = define_numbered(defined);
		bool stored = from && from->definer == DEFINED_STORE && is_inside(from, address, size);

		*hop = (struct isolate_hop){ .place = define_place(load->site->pc, load->call),
					     .address = address,
					     .size = size,
					     .order = load->order,
					     .thread = load->thread,
					     .definition = describe(defined, address, size) };
		hop->value = stored && from->address == address && from->size <= 8 ? from->value
										   : value_at(address, size);
		hop->parts = from && from->definer == DEFINED_STORE && !stored;
		hop->points = size == 8 && is_readable(hop->value, 1);
		if (!stored)
			return;
		if (define_saves_register(from)) {
			use->nhops--;
			load = define_load_numbered(MARK_FIRST(from->mark));
			size = 0;
			continue;
		}
		load = define_load_numbered(MARK_FIRST(from->mark));
		hop->copied = passes_on(from, load, &address, &size);
		if (!hop->copied)
			size = 0;
	}
}

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
	follow(&failure->uses[failure->nuses], number, 0, 0);
	failure->nuses += failure->uses[failure->nuses].nhops > 0;
}

static void add_uses(struct isolate_failure *failure, uint64_t mark)
{
	add_use(failure, MARK_FIRST(mark));
	add_use(failure, MARK_SECOND(mark));
	define_list_reads(failure, mark);
}

static struct isolate_failure *begin(uint32_t kind, Addr pc)
{
	struct isolate_failure *failure = &define.area->failure;

	if (!define.on || failure->kind)
		return NULL;
	failure->kind = kind;
	failure->thread = grind.thread->number;
	failure->place = define_place(pc, grind.call);
	return failure;
}

/* The location itself is what was used: who freed or allocated it is its definition. */
static void add_location(struct isolate_failure *failure, Addr address, SizeT size, bool write, Addr pc)
{
	failure->uses[failure->nuses++] = (struct isolate_use){
		.nhops = 1,
		.hops = { { .place = define_place(pc, grind.call),
			    .address = address,
			    .size = size,
			    .thread = grind.thread->number,
			    .order = *grind.thread->order,
			    .definition = describe(define_at(address), address, size) } }
	};
	failure->reads[failure->nreads++] = (struct isolate_read){ .place = define_place(pc, grind.call),
								   .address = address,
								   .size = size,
								   .order = *grind.thread->order,
								   .thread = grind.thread->number,
								   .write = write };
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
	if (freed) {
		add_location(failure, address, size, write, pc);
		define_list_reads(failure, define.hooked);
	} else {
		add_uses(failure, define.hooked);
	}
}

void define_freed_twice(Addr address)
{
	struct isolate_failure *failure = define.on ? begin(FAILED_FREE, 0) : NULL;

	if (!failure)
		return;
	failure->address = address;
	add_location(failure, address, 1, true, 0);
	define_list_reads(failure, 0);
}

void define_fatal(ThreadId tid)
{
	if (!define.on || define.area->failure.kind)
		return;
	const struct value_thread *thread = define_thread();
	Addr ip = VG_(get_IP)(tid);
	struct isolate_failure *failure;

	const struct value_branch *decided = define_deciding_branch(thread);

	if (VG_(in_generated_code) && thread->divides) {
		failure = begin(FAILED_VALUE, thread->operand.site->pc);
		add_uses(failure, thread->operand.mark);
	} else if (thread->access.site && thread->access.site->pc == ip) {
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
	} else if (decided) {
		failure = begin(FAILED_BRANCH, decided->site->pc);
		failure->branch = decided->site->pc;
		failure->taken = decided->taken;
		add_uses(failure, decided->mark);
	} else {
		begin(FAILED_BRANCH, ip);
	}
}

#define ROUNDS 64u
/* Whoever goes round and round follows what it has read before: of these locations the one that was written last. */
static uint32_t youngest_of_round(uint32_t number)
{
	uint32_t best = number, latest = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct load *load = define_load_numbered(number);

		if (!load || !load->site)
			break;
		if (load->definition[0] > latest) {
			latest = load->definition[0];
			best = number;
		}
		number = MARK_FIRST(load->mark);
	}
	return best;
}

void define_hung(void)
{
	if (!define.on || define.area->failure.kind || !grind.thread)
		return;
	const struct value_branch *decided = define_deciding_branch(define_thread());
	struct isolate_failure *failure =
		begin(FAILED_HANG, decided ? decided->site->pc : VG_(get_IP)(grind.thread->tid));

	if (decided) {
		failure->branch = decided->site->pc;
		failure->taken = decided->taken;
	}
	add_uses(failure, decided ? youngest_of_round(MARK_FIRST(decided->mark)) |
					    (decided->mark & ~MARK_NUMBER & ~MARK_COPY)
				  : 0);
}

/* The last time that each instruction read or wrote what is watched. */
static struct {
	const struct value_site *site;
	uint64_t mark;
	uint32_t thread;
} watched[ISOLATE_USES];

void define_watched(const struct value_site *site, uint64_t mark)
{
	uint32_t i = 0;

	if (!(mark & (MARK_NUMBER | MARK_NUMBER << MARK_BITS)))
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
			failure = begin(FAILED_WATCH, watched[i].site->pc);
		if (!failure)
			return;
		failure->thread = watched[i].thread;
		add_uses(failure, watched[i].mark);
	}
}
