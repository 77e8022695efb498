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
					    .when = from->first,
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

static uint64_t value_read(const struct load *load)
{
	const struct definition *from = define_numbered(load->definition[0]);
	bool whole = from && from->definer == DEFINED_STORE && from->address == load->address &&
		     from->size == load->site->size;

	return whole ? from->value : value_at(load->address, load->site->size);
}

/* What an address was made of: a pointer into what lies there, and something that was added to it. */
struct made_of {
	uint32_t base, index; /* loads; 0: none */
	uint32_t seen;        /* loads that were looked at, and such as stand for two */
};
#define MADE_OF 32u /* of them, at most: the youngest, of a sum in a loop there may be thousands */

static void take_apart(uint32_t number, Addr address, struct made_of *out)
{
	const struct load *load = define_load_numbered(number);

	if (!load || out->seen++ >= MADE_OF)
		return;
	if (!load->site) {
		take_apart(MARK_FIRST(load->mark), address, out);
		take_apart(MARK_SECOND(load->mark), address, out);
		return;
	}
	bool is_base = load->site->size == 8 && address + NEAR_BASE - value_read(load) < 2 * NEAR_BASE;

	if (is_base && !out->base)
		out->base = number;
	else if (!is_base && !out->index)
		out->index = number;
}

static struct made_of made_of(uint64_t mark, Addr address)
{
	struct made_of made = { 0 };

	take_apart(MARK_FIRST(mark), address, &made);
	take_apart(MARK_SECOND(mark), address, &made);
	return made;
}

/* Zeros that a function of a library filled in, or the instruction that compilers make of it (rep stos). */
static bool clears(const struct definition *from)
{
	const UChar *code = (const UChar *)from->site->pc;

	if (from->value)
		return false;
	if (from->site->kind == CODE_LIBRARY)
		return true;
	code += *code == 0xf3 ? 1 : 0;
	code += *code == 0x48 ? 1 : 0;
	return code > (const UChar *)from->site->pc && (*code == 0xab || *code == 0xaa);
}

/* Is a part of a pointer read through an index, as if it were something else? Then the index is wrong. */
static bool is_misread(const struct definition *from, const struct load *load, const struct made_of *made)
{
	return made->index && from->size == 8 && load->site->size < 8 && from->site->kind == CODE_PROGRAM &&
	       load->site->kind == CODE_PROGRAM && is_readable(from->value, 1);
}

/* Did an index lead to what was only cleared, or to what others write than those whom the instruction mostly reads
 * from? Then it may be wrong, too. */
static bool is_astray(const struct definition *from, const struct load *load, const struct made_of *made)
{
	return made->index && load->site->kind == CODE_PROGRAM && (define_is_strange(load) || clears(from));
}

/* Nobody had written there: what said where to read may be wrong. */
static bool is_unwritten(const struct isolate_hop *hop)
{
	return hop->definition.definer == DEFINED_NOT || hop->definition.definer == DEFINED_CLEARED ||
	       hop->definition.definer == DEFINED_ALLOCATED || hop->definition.definer == DEFINED_FRAME;
}

static struct isolate_hop hop_of(const struct load *load, uint32_t defined, Addr address, SizeT size)
{
	const struct definition *from = define_numbered(defined);
	bool stored = from && from->definer == DEFINED_STORE && is_inside(from, address, size);
	bool whole = stored && from->address == address && from->size <= 8;
	struct isolate_hop hop = { .place = define_place(load->site->pc, load->call),
				   .address = address,
				   .size = size,
				   .value = whole ? from->value : value_at(address, size),
				   .lost = !whole && define_at(address) != defined,
				   .order = load->order,
				   .thread = load->thread,
				   .parts = from && from->definer == DEFINED_STORE && !stored,
				   .definition = describe(defined, address, size) };

	const struct load *index = define_load_numbered(made_of(load->mark, load->address).index);

	hop.points = size == 8 && is_readable(hop.value, 1);
	hop.indexed = index != NULL;
	if (index)
		hop.index = define_place(index->site->pc, index->call);
	return hop;
}

/* Did a function of a library copy what was no pointer to where one was read? Then the copy is wrong, not what it
 * copied. */
static bool is_text(const struct isolate_hop *hop, const struct definition *from, const struct load *load)
{
	uint32_t kind = define.area->failure.kind;
	const struct definition *source = load && load->site ? define_numbered(load->definition[0]) : NULL;

	bool unwritten = source && (source->definer == DEFINED_ALLOCATED || source->definer == DEFINED_FREED);
	bool pointer = source && source->size == 8 && source->site && source->site->kind == CODE_PROGRAM;

	return (kind == FAILED_ACCESS || kind == FAILED_JUMP) && hop->size == 8 && hop->value &&
	       !hop->points && from->site->kind == CODE_LIBRARY && load && !unwritten && !pointer;
}

/* The definition of the byte that was read, by what was defined `before` that number. A load knows those of the first
 * byte of each of its words; another one's is known where it has not changed since. */
#define NOT_KNOWN (1u << 31) /* the number of no definition */
static uint32_t defined_at(const struct load *load, Addr address, SizeT size, uint32_t before)
{
	uint32_t first = load->definition[(address - load->address) / 8 % LOAD_WORDS];
	uint32_t now = define_at(address);
	const struct definition *from = define_numbered(first), *since = define_numbered(now);

	if ((address - load->address) % 8 == 0 || (from && is_inside(from, address, size)))
		return first;
	return since && since->first < before ? now : NOT_KNOWN;
}

/* Did the store walk over memory, from beside where it had written the time before? */
static bool walks(const struct definition *from)
{
	for (int side = 0; side < 2; side++) {
		Addr beside = side ? from->address + from->size : from->address - from->size;
		const struct definition *other = define_numbered(define_at(beside));

		if (other && other->site == from->site && other->thread == from->thread &&
		    other->address == beside && other->instance + 1 == from->instance)
			return true;
	}
	return false;
}

/* Hops back from a load, of which `size` bytes at `address` are of interest. */
static void follow(struct isolate_use *use, uint32_t number, Addr address, SizeT size)
{
	const struct load *load = define_load_numbered(number);
	uint32_t before = ~0u;
	bool misread = false, astray = false;

	while (load && load->site && use->nhops < ISOLATE_HOPS) {
		if (!size) {
			address = load->address;
			size = load->site->size;
		}
		struct isolate_hop *hop = &use->hops[use->nhops++];
		uint32_t defined = defined_at(load, address, size, before);
		const struct definition *from = define_numbered(defined);
		struct made_of made = made_of(load->mark, load->address);
		bool stored = from && from->definer == DEFINED_STORE && is_inside(from, address, size);

		*hop = hop_of(load, defined, address, size);
		bool is_part = stored && is_misread(from, load, &made);
		bool is_stray = stored && is_astray(from, load, &made);

		astray |= is_stray;
		hop->misread = is_part || is_stray;
		/* A wrong index that the program was given, or data that it begins with. */
		if (hop->definition.definer == DEFINED_NOT && hop->value && (astray || !made.index))
			return;
		if (hop->misread || is_unwritten(hop)) {
			misread |= is_part;
			load = define_load_numbered(made.index ? made.index : made.base);
			hop->placed = load != NULL;
			size = 0;
			continue;
		}
		if (!stored)
			return;
		before = from->first;
		if (define_saves_register(from)) {
			use->nhops--;
			load = define_load_numbered(MARK_FIRST(from->mark));
			size = 0;
			continue;
		}
		/* Written through an index, or by a walk, and read without one: a write that was meant for another
		 * place. */
		if ((misread || define_is_strange(load)) && !made.index &&
		    (made_of(from->where, from->address).index || walks(from)))
			return;
		load = define_load_numbered(MARK_FIRST(from->mark));
		if (is_text(hop, from, load))
			return;
		hop->copied = passes_on(from, load, &address, &size);
		if (!hop->copied)
			size = 0;
	}
}

uint32_t define_base(uint64_t mark, Addr address)
{
	return made_of(mark, address).base;
}

void define_follow(struct isolate_use *use, uint32_t number)
{
	follow(use, number, 0, 0);
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

void define_add_uses(struct isolate_failure *failure, uint64_t mark)
{
	add_use(failure, MARK_FIRST(mark));
	add_use(failure, MARK_SECOND(mark));
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
			    .definition = describe(define_at(address), address, size) } }
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
	} else {
		failure->made = define_place(0, heap_made_by(address));
		define_add_uses(failure, define.hooked);
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
}

#define GUARD (1u << 20) /* beside the stack pointer: what a function keeps on the stack, about */
/* Did the thread run out of stack? Then its stack pointer has left what is mapped, or is about to. */
static bool is_below_stack(ThreadId tid, const struct value_thread *thread)
{
	Addr sp = VG_(get_SP)(tid), address = thread->access.address;

	return thread->nreturns && address + GUARD > sp && address < sp + GUARD && !is_readable(address, 1) &&
	       sp < thread->frames[0];
}

/* Whether the calls went on was decided by a branch: what that went by is what was used. */
static void end_of_stack(const struct value_thread *thread, const struct value_branch *decided, Addr ip)
{
	struct isolate_failure *failure = define_begin(FAILED_STACK, ip);

	failure->address = thread->access.address;
	failure->size = thread->access.site->size;
	failure->write = thread->access.write;
	if (!decided)
		return;
	failure->branch = decided->site->pc;
	failure->taken = decided->taken;
	define_add_uses(failure, decided->mark);
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
	} else if (thread->access.site && is_below_stack(tid, thread)) {
		end_of_stack(thread, decided, ip);
	} else if (thread->access.site && thread->access.site->pc == ip) {
		failure = define_begin(FAILED_ACCESS, ip);
		failure->address = thread->access.address;
		failure->size = thread->access.site->size;
		failure->write = thread->access.write;
		define_add_uses(failure, thread->access.mark);
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
/* Whoever goes round and round follows what it has read before: of these locations the one that was written last. */
static uint32_t youngest_of_round(uint32_t number)
{
	uint32_t best = number, latest = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct load *load = define_load_numbered(number);

		if (!load || !load->site)
			break;
		const struct definition *from = define_numbered(load->definition[0]);

		if (from && from->first > latest) {
			latest = from->first;
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
		define_begin(FAILED_HANG, decided ? decided->site->pc : VG_(get_IP)(grind.thread->tid));

	if (decided) {
		failure->branch = decided->site->pc;
		failure->taken = decided->taken;
	}
	define_add_uses(failure, decided ? youngest_of_round(MARK_FIRST(decided->mark)) |
						   (decided->mark & ~MARK_NUMBER & ~MARK_COPY)
					 : 0);
}
