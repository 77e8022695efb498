/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory that a pool of the program's own had given out before. It looks so: two fields
 * beside what was read were written, through one pointer, both before what was read had
 * been written and since, and what was written does not come of what was there. The new
 * owner has left the old one's value. Whether that is what fails, a run tells in which it
 * is cleared when the memory is given out. */
#include "loom/grind/define.h"

#define BESIDE 256u /* bytes: fields of a structure are not farther away */
#define FIELDS 16u
#define RENEWED 2u /* fields */

struct field {
	const struct definition *now;
	bool before; /* it was written before what was left as well */
};

struct fields {
	struct field items[FIELDS];
	uint32_t n;
	uint32_t since; /* number of the definition that was left */
	Addr low, high; /* where they may lie: near, and in the same block of the heap */
};

/* Is it the same field's next value, as a count is? Then it is no beginning. */
static bool is_update(const struct definition *definition)
{
	const uint32_t numbers[] = { MARK_FIRST(definition->mark), MARK_SECOND(definition->mark) };

	for (int i = 0; i < 2; i++) {
		const struct load *load = define_load_numbered(numbers[i]);

		if (load && load->site && load->address == definition->address)
			return true;
	}
	return false;
}

/* What its owner wrote through the same pointer is of the same owner. */
static uint64_t pointer_of(const struct definition *definition)
{
	return definition ? definition->where & ~MARK_COPY : 0;
}

static void collect(struct fields *fields)
{
	const uint64_t owner = pointer_of(define_numbered(fields->since));

	for (Addr at = fields->low; at < fields->high && fields->n < FIELDS; at++) {
		const struct definition *from = define_numbered(define_at(at));

		if (!from || from->address != at || from->definer != DEFINED_STORE ||
		    from->site->kind != CODE_PROGRAM || from->first <= fields->since || is_update(from) ||
		    !define_is_loaded(from->where) || pointer_of(from) == owner)
			continue;
		fields->items[fields->n++].now = from;
	}
}

static bool note_before(const struct definition *definition, void *context)
{
	struct fields *fields = context;

	for (uint32_t i = 0; i < fields->n; i++) {
		const struct definition *now = fields->items[i].now;

		fields->items[i].before |= now->address == definition->address &&
					   now->size == definition->size && !is_update(definition);
	}
	return true;
}

static void tell(struct isolate_failure *failure, const struct definition *definition)
{
	define_add_clue(failure, &(struct isolate_clue){ .kind = CLUE_SETUP,
							 .place = define_place(definition->site->pc, 0),
							 .call = define_calling_place(definition->caller),
							 .thread = definition->thread,
							 .write = 1 });
}

/* What said where the new owner's memory lies, and who had written that. */
static void tell_giver(struct isolate_failure *failure, const struct definition *definition)
{
	const uint32_t numbers[] = { MARK_FIRST(definition->where), MARK_SECOND(definition->where) };

	for (int i = 0; i < 2; i++) {
		const struct load *load = define_load_numbered(numbers[i]);
		const struct definition *from =
			load && load->site ? define_numbered(load->definition[0]) : NULL;

		if (!load || !load->site)
			continue;
		define_add_clue(failure,
				&(struct isolate_clue){ .kind = CLUE_SETUP,
							.place = define_place(load->site->pc, load->call),
							.thread = load->thread });
		if (from && from->definer == DEFINED_STORE && from->site->kind == CODE_PROGRAM)
			tell(failure, from);
	}
}

/* What else the old owner had written through the pointer by which it wrote that, and the new one had not yet. */
static void add_ranges(struct isolate_renewal *renewal, const struct fields *fields,
		       const struct isolate_hop *hop, const struct definition *first)
{
	const struct definition *left = define_numbered((uint32_t)hop->definition.when);
	uint64_t pointer = pointer_of(left);

	for (Addr at = fields->low; at < fields->high && renewal->n < ISOLATE_RANGES; at++) {
		const struct definition *from = define_numbered(define_at(at));

		if (pointer && from && from != left && from->address == at &&
		    from->definer == DEFINED_STORE && from->first < first->first &&
		    pointer_of(from) == pointer) {
			renewal->ranges[renewal->n].address = at;
			renewal->ranges[renewal->n++].size = from->size;
		}
	}
}

/* Of the fields that were written through the same pointer as the `k`-th one: how many, the first and the last. */
static uint32_t owner_of(const struct fields *fields, uint32_t k, const struct definition **first,
			 const struct definition **last)
{
	uint64_t pointer = pointer_of(fields->items[k].now);
	uint32_t n = 0;

	*first = *last = fields->items[k].now;
	for (uint32_t i = 0; i < fields->n; i++) {
		const struct definition *now = fields->items[i].now;

		if (!fields->items[i].before || pointer_of(now) != pointer)
			continue;
		n++;
		*first = now->first < (*first)->first ? now : *first;
		*last = now->first > (*last)->first ? now : *last;
	}
	return n;
}

/* The field nearest to the address whose owner wrote several again; n: none. */
static uint32_t nearest(const struct fields *fields, Addr address)
{
	const struct definition *first, *last;
	uint32_t best = fields->n;
	Addr least = BESIDE;

	for (uint32_t k = 0; k < fields->n; k++) {
		Addr at = fields->items[k].now->address, away = at < address ? address - at : at - address;

		if (fields->items[k].before && away < least &&
		    owner_of(fields, k, &first, &last) >= RENEWED) {
			best = k;
			least = away;
		}
	}
	return best;
}

static bool is_renewed(struct isolate_failure *failure, const struct isolate_hop *hop)
{
	struct fields fields = { .since = (uint32_t)hop->definition.when,
				 .low = hop->address - BESIDE,
				 .high = hop->address + BESIDE };
	const struct definition *first = NULL, *last = NULL;
	uint32_t k;

	if (hop->definition.definer != DEFINED_STORE)
		return false;
	heap_bounds(hop->address, &fields.low, &fields.high);
	collect(&fields);
	if (!fields.n)
		return false;
	define_each_earlier(fields.low, fields.high - fields.low, fields.since, note_before, &fields);
	k = nearest(&fields, hop->address);
	if (k == fields.n)
		return false;
	owner_of(&fields, k, &first, &last);
	failure->renewed = 1;
	failure->renewal = (struct isolate_renewal){ .key = first->site->pc,
						     .instance = first->instance,
						     .ranges = { { hop->address, hop->size } },
						     .n = 1,
						     .thread = first->thread };
	add_ranges(&failure->renewal, &fields, hop, first);
	tell_giver(failure, first);
	tell(failure, first);
	tell(failure, last);
	return true;
}

void define_tell_renewed(struct isolate_failure *failure, const struct isolate_use *use)
{
	/* Only what was used, or that it was copied from. */
	for (uint32_t i = 0; i < use->nhops && !failure->renewed; i++)
		if (is_renewed(failure, &use->hops[i]) || !use->hops[i].copied)
			return;
}

void define_renew(const struct value_site *site, uint64_t instance)
{
	const struct isolate_renewal *clear = &define.area->clear;

	if (LIKELY(clear->key != site->pc) || clear->instance != instance ||
	    clear->thread != grind.thread->number)
		return;
	define.area->met++;
	for (uint32_t i = 0; i < clear->n; i++)
		VG_(memset)((void *)clear->ranges[i].address, 0, clear->ranges[i].size);
}
