/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From a value back: who had put it where it was read, what that was copied or computed
 * from, and so on; where nobody had written, or an index led astray, what had said where
 * to read. Of an address: which load gave the pointer and which was added to it. */
#include "loom/grind/define.h"

bool define_is_readable(Addr address, SizeT size)
{
	return VG_(am_is_valid_for_client)(address, size, VKI_PROT_READ);
}

static uint64_t value_at(Addr address, SizeT size)
{
	uint64_t value = 0;

	if (size <= 8 && define_is_readable(address, size))
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

/* Where a value came into being that was stored and came from nothing in memory. */
static struct isolate_place given(const struct definition *from)
{
	Addr made = define_made_at(from->mark);

	if (from->definer != DEFINED_STORE || from->site->kind != CODE_PROGRAM ||
	    define_is_loaded(from->mark) || (made && code_kind(made) != CODE_PROGRAM))
		return (struct isolate_place){ 0 };
	return define_place(made, made ? 0 : from->call);
}

struct isolate_definition define_describe(uint32_t number, Addr address, SizeT size)
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
					    .given = given(from),
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

uint64_t define_value_read(const struct load *load)
{
	const struct definition *from = define_numbered(load->definition[0]);
	bool whole = from && from->definer == DEFINED_STORE && from->address == load->address &&
		     from->size == load->site->size;

	return whole ? from->value : value_at(load->address, load->site->size);
}

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
	bool is_base = load->site->size == 8 && address + NEAR_BASE - define_value_read(load) < 2 * NEAR_BASE;

	if (is_base && !out->base)
		out->base = number;
	else if (!is_base && !out->index)
		out->index = number;
}

struct made_of define_made_of(uint64_t mark, Addr address)
{
	struct made_of made = { 0 };

	take_apart(MARK_FIRST(mark), address, &made);
	take_apart(MARK_SECOND(mark), address, &made);
	return made;
}

/* Were zeros written? Of more than a word the value is not kept, but it may still be there. */
static bool is_zero(const struct definition *from)
{
	for (SizeT i = 0; from->size > 8 && i < from->size; i += 8)
		if (define_at(from->address + i) != from->number || value_at(from->address + i, 8))
			return false;
	return !from->value;
}

/* Zeros that a function of a library filled in, or the instruction that compilers make of it (rep stos). */
static bool clears(const struct definition *from)
{
	const UChar *code = (const UChar *)from->site->pc;

	if (!is_zero(from))
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
	       load->site->kind == CODE_PROGRAM && define_is_readable(from->value, 1);
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
	       hop->definition.definer == DEFINED_ALLOCATED || hop->definition.definer == DEFINED_FRAME ||
	       hop->definition.definer == DEFINED_LEFT;
}

/* Was the pointer, which a load read, put there before the definition of that number? What was passed on since came of
 * it. */
static bool was_kept(uint32_t number, Addr address, uint32_t since)
{
	for (uint32_t i = 0; i < ISOLATE_HOPS; i++) {
		const struct load *load = define_load_numbered(number);
		const struct definition *from = load ? define_numbered(load->definition[0]) : NULL;

		if (!from || from->definer != DEFINED_STORE)
			return false;
		if (from->first < since)
			return true;
		number = define_made_of(from->mark, address).base;
	}
	return false;
}

/* The thread in whose stack the address lies, arguments of main aside; NULL: in none. */
static const struct thread *stack_owner(Addr address)
{
	const NSegment *segment = VG_(am_find_nsegment)(address);

	if (!segment || heap_holds(address))
		return NULL;
	for (uint32_t i = 0; i <= thread_last_made(); i++) {
		const struct thread *thread = thread_numbered(i);
		Addr high = thread ? thread->stack_high - 1 : 0;

		if (thread && address <= high && high >= segment->start && high <= segment->end)
			return high >= define.arguments && address >= define.arguments &&
					       define.arguments >= segment->start
				       ? NULL
				       : thread;
	}
	return NULL;
}

/* Was a local read by a pointer that is older than the call of the function whose frame lies there? */
static bool is_left(const struct load *load, uint32_t base)
{
	const struct thread *owner = base ? stack_owner(load->address) : NULL;
	const struct value_thread *thread = owner ? define_thread_in(owner->slot) : NULL;
	uint32_t i = thread ? thread->nreturns : 0;

	while (i && (thread->frames[i - 1] <= load->address || thread->entered[i - 1].load > load->number))
		i--;
	return i && was_kept(base, load->address, thread->entered[i - 1].definition);
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

/* Was it written through an index, or by a walk? Then it may have been meant for another place. */
static bool is_strewn(const struct definition *from)
{
	return define_made_of(from->where, from->address).index || walks(from);
}

/* Of what was added to a pointer to say where the definition wrote. */
static struct isolate_branch where_check(const struct definition *from)
{
	const struct load *index =
		from && from->definer == DEFINED_STORE
			? define_load_numbered(define_made_of(from->where, from->address).index)
			: NULL;

	return index ? define_check_of(index->definition[0]) : (struct isolate_branch){ 0 };
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
				   .definition = define_describe(defined, address, size) };

	const struct made_of made = define_made_of(load->mark, load->address);
	const struct load *index = define_load_numbered(made.index), *base = define_load_numbered(made.base);

	if (is_left(load, made.base))
		hop.definition = (struct isolate_definition){ .address = address,
							      .size = size,
							      .definer = DEFINED_LEFT };
	hop.points = size == 8 && define_is_readable(hop.value, 1);
	hop.value_check = define_check_of(defined);
	hop.where_check = where_check(from);
	hop.strewn = stored && is_strewn(from);
	hop.indexed = index != NULL;
	hop.reached = base && !is_on_stack(base->address);
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
		struct made_of made = define_made_of(load->mark, load->address);
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
			load = define_load_numbered(made.index && hop->definition.definer != DEFINED_LEFT
							    ? made.index
							    : made.base);
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
		/* Read without an index: a write that was meant for another place. */
		if ((misread || define_is_strange(load)) && !made.index && is_strewn(from))
			return;
		load = define_load_numbered(MARK_FIRST(from->mark));
		if (is_text(hop, from, load))
			return;
		hop->copied = passes_on(from, load, &address, &size);
		if (!hop->copied)
			size = 0;
	}
}

void define_follow(struct isolate_use *use, uint32_t number)
{
	follow(use, number, 0, 0);
}
