/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values that lost bits: stored into fewer bytes than they have, widened again from these,
 * or multiplied beyond 32 bits; lengths that became less than zero. Programs mean that
 * often (the bytes of a number, a hash), so it is told only of what a failure was made of. */
#include "loom/grind/define.h"

#define CUTS (1u << 16)

struct cut {
	const struct value_site *site;
	Addr caller;
	uint64_t full, mark;
	uint32_t thread, when; /* the number of the next definition */
};
static struct cut *cuts;
static uint64_t ncuts;

static uint64_t kept_of(uint64_t full, uint32_t size)
{
	return size < 8 ? full & ((1ull << 8 * size) - 1) : full;
}

/* Is the value the same one when it is widened again, with or without a sign, to 32 or 64 bits? */
static bool fits(uint64_t full, uint32_t size)
{
	int shift = 64 - 8 * (int)size;
	uint64_t kept = kept_of(full, size), with_sign = (uint64_t)((int64_t)(full << shift) >> shift);

	return full == kept || full == with_sign || full == (uint32_t)with_sign;
}

/* Numbers that were counted have a few bits too many; what was mixed, as a hash is, has all. */
static bool is_counted(uint64_t full, uint32_t size)
{
	uint64_t negative = full >> 31 == 1 ? (uint64_t)(-(int64_t)(int32_t)full) : -full;
	uint64_t magnitude = full < negative ? full : negative;

	return size >= 4 || magnitude >> 16 * size == 0;
}

static bool is_negative(uint64_t full)
{
	return full >> 63;
}

static void note(uint64_t full, uint64_t mark, const struct value_site *site)
{
	const struct value_thread *thread = define_thread();

	if (!cuts) {
		SysRes result = VG_(am_mmap_anon_float_valgrind)(CUTS * sizeof *cuts);

		if (sr_isError(result))
			return;
		cuts = (struct cut *)sr_Res(result);
	}
	cuts[ncuts++ % CUTS] =
		(struct cut){ .site = site,
			      .caller = thread->nreturns ? thread->returns[thread->nreturns - 1] - 1 : 0,
			      .full = full,
			      .mark = mark & ~(MARK_COPY | MARK_SUPPRESSED),
			      .thread = grind.thread->number,
			      .when = define_next() };
}

VG_REGPARM(3) void define_cut(uint64_t full, uint64_t mark, const struct value_site *site)
{
	bool is_lost = !fits(full, site->size) || (site->size >= 4 && is_negative(full));

	if (define_is_loaded(mark) && is_lost && is_counted(full, site->size))
		note(full, mark, site);
}

/* Is it a number that was not negative, and is when so many bytes of it are read with their sign? */
static bool is_turned(uint64_t full, uint32_t size)
{
	return size < 4 && full == kept_of(full, size) && is_negative(full << (64 - 8 * size));
}

void define_loaded_part(const struct definition *from, uint64_t mark, const struct value_site *site)
{
	int shift = 64 - 8 * (int)from->size;
	uint64_t full = (uint64_t)((int64_t)(from->value << shift) >> shift);

	if ((!fits(full, site->size) || is_turned(full, site->size)) && is_counted(full, site->size))
		note(full, mark, site);
}

static bool is_among(uint32_t number, uint64_t mark)
{
	return !number || number == MARK_FIRST(mark) || number == MARK_SECOND(mark);
}

/* Did the program store its other bytes beside? Then nothing was lost. */
static bool is_kept_beside(const struct definition *defined)
{
	const struct load *load = define_load_numbered(MARK_FIRST(defined->mark));

	for (int side = 0; side < 2; side++) {
		Addr beside = side ? defined->address + defined->size : defined->address - 1;
		const struct definition *other = define_numbered(define_at(beside));
		const struct load *of = other && other->definer == DEFINED_STORE &&
							other->size == defined->size &&
							other->thread == defined->thread
						? define_load_numbered(MARK_FIRST(other->mark))
						: NULL;

		if (load && of && load->site && of->site && load->address / 8 == of->address / 8)
			return true;
	}
	return false;
}

static void tell(struct isolate_failure *failure, const struct value_site *site, Addr caller, uint64_t full,
		 uint32_t size, uint32_t thread)
{
	define_add_clue(failure, &(struct isolate_clue){ .kind = CLUE_CUT,
							 .place = define_place(site->pc, 0),
							 .call = define_calling_place(caller),
							 .value = kept_of(full, size),
							 .full = full,
							 .size = size,
							 .thread = thread,
							 .write = 1 });
}

#define SAVED_MOST 8
/* The mark that a value had before functions kept its register for their caller. */
static uint64_t before_saves(uint64_t mark)
{
	for (int i = 0; i < SAVED_MOST; i++) {
		const struct load *load = define_load_numbered(MARK_FIRST(mark));
		const struct definition *from =
			load && load->site ? define_numbered(load->definition[0]) : NULL;

		if (!from || !define_saves_register(from))
			break;
		mark = from->mark & ~(MARK_COPY | MARK_SUPPRESSED);
	}
	return mark;
}

#define NEAR_STORES 64u /* compilers put statements together */
/* The store that had kept as much of the same value, before it was cut to be used or beside that; NULL: there is none. */
static const struct definition *kept_before(const struct cut *cut)
{
	uint64_t mark = before_saves(cut->mark);

	uint32_t number = define_next();

	if (number > cut->when + NEAR_STORES)
		number = cut->when + NEAR_STORES;
	while (--number) {
		const struct definition *at = define_numbered(number);

		if (!at)
			break;
		if (at->definer == DEFINED_STORE && at->site->kind == CODE_PROGRAM &&
		    at->thread == cut->thread && at->size == cut->site->size &&
		    at->value == kept_of(cut->full, cut->site->size) &&
		    before_saves(at->mark & ~(MARK_COPY | MARK_SUPPRESSED)) == mark)
			return at;
	}
	return NULL;
}

/* The last cut, by the thread before that definition, that the marked value came of. `read_by`: the load that the value
 * is read by; NULL: none. */
static bool tell_cut(struct isolate_failure *failure, uint64_t mark, uint32_t thread, uint32_t before,
		     const struct load *read_by, bool is_length)
{
	for (uint64_t i = 0; define_is_loaded(mark) && i < CUTS && i < ncuts; i++) {
		const struct cut *cut = &cuts[(ncuts - 1 - i) % CUTS];
		uint32_t size = cut->site->size;
		bool turns = read_by && read_by->site->with_sign && read_by->site->size == size;

		if (cut->thread != thread || cut->when > before || !is_among(MARK_FIRST(cut->mark), mark) ||
		    !is_among(MARK_SECOND(cut->mark), mark))
			continue;
		if (fits(cut->full, size) && (is_turned(cut->full, size) ? !turns : !is_length))
			continue;
		const struct definition *stored = fits(cut->full, size) ? NULL : kept_before(cut);

		tell(failure, stored ? stored->site : cut->site, stored ? stored->caller : cut->caller,
		     cut->full, size, thread);
		return true;
	}
	return false;
}

bool define_tell_cut(struct isolate_failure *failure, uint64_t mark, bool is_length)
{
	return tell_cut(failure, mark, failure->thread, define_next(), NULL, is_length);
}

VG_REGPARM(2) void define_read_with_sign(uint64_t mark, Addr pc)
{
	const struct load *load = mark & MARK_COPY ? define_load_numbered(MARK_FIRST(mark)) : NULL;

	if (load && load->site)
		((struct value_site *)load->site)->with_sign = pc;
}

/* A part of a text, say, that says where to read: as a number it is less than zero. */
bool define_tell_turned_index(struct isolate_failure *failure, const struct load *load)
{
	uint64_t value = define_value_read(load);

	if (!load->site->with_sign || !is_turned(value, load->site->size))
		return false;
	define_add_clue(failure,
			&(struct isolate_clue){ .kind = CLUE_CUT,
						.place = define_place(load->site->with_sign, load->call),
						.value = value,
						.size = load->site->size,
						.thread = load->thread });
	return true;
}

bool define_tell_read_cut(struct isolate_failure *failure, const struct load *load, bool is_length)
{
	const struct definition *from = define_numbered(load->definition[0]);

	if (!from || from->definer != DEFINED_STORE || from->site->kind != CODE_PROGRAM ||
	    is_kept_beside(from))
		return false;
	uint32_t size = (uint32_t)from->size;
	bool whole = from->address == load->address && size == load->site->size && size < 8;
	bool lost = whole &&
		    (!fits(from->whole, size) || (load->site->with_sign && is_turned(from->whole, size)));

	if (lost && is_counted(from->whole, size)) {
		tell(failure, from->site, from->caller, from->whole, size, from->thread);
		return true;
	}
	return tell_cut(failure, from->mark, from->thread, from->first, load, is_length);
}
