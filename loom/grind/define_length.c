/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Of memory that nobody had written: a function of a library copied to what lies just
 * before it, and perhaps it was to copy more. What was read as the number of bytes is
 * known by its value: the copy is that long. */
#include "loom/grind/define.h"

#define BEFORE_MOST \
	256u /* bytes between the end of the copy and what was not written: fields of a structure */

/* The last store of a library before the address, with nothing but unwritten memory of the same block between. */
static const struct definition *copy_before(Addr address)
{
	uint32_t unwritten = define_at(address);

	for (Addr at = address - 1; at > address - BEFORE_MOST; at--) {
		const struct definition *from = define_numbered(define_at(at));

		if (define_at(at) == unwritten)
			continue;
		return from && from->definer == DEFINED_STORE && from->site->kind == CODE_LIBRARY ? from
												  : NULL;
	}
	return NULL;
}

/* Did a copy by the same call begin so many bytes before its end? */
static bool is_long(const struct definition *last, uint64_t bytes)
{
	Addr start = last->address + last->size - bytes;
	const struct definition *first = bytes ? define_numbered(define_at(start)) : NULL;

	return first && first->address == start && first->definer == DEFINED_STORE &&
	       first->site->kind == CODE_LIBRARY && first->call == last->call &&
	       first->thread == last->thread;
}

#define LOOKED_AT 64u
/* The load, of those that a mark stands for, of a number of bytes that the copy is long; 0: none. */
static uint32_t length_in(uint32_t number, const struct definition *last, uint32_t *left)
{
	const struct load *load = define_load_numbered(number);
	uint32_t found;

	if (!load || !*left)
		return 0;
	--*left;
	if (load->site)
		return is_long(last, define_value_read(load)) ? number : 0;
	found = length_in(MARK_FIRST(load->mark), last, left);
	return found ? found : length_in(MARK_SECOND(load->mark), last, left);
}

void define_tell_length(struct isolate_failure *failure, Addr unwritten)
{
	const struct definition *last = copy_before(unwritten);
	uint32_t left = LOOKED_AT, number = 0;

	if (!last)
		return;
	number = length_in(MARK_FIRST(last->where), last, &left);
	if (!number)
		number = length_in(MARK_SECOND(last->where), last, &left);
	if (!number)
		return;
	failure->copied = define_place(0, last->call);
	define_follow(&failure->length, number);
}
