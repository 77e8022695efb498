/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which branch of the program looked at a value last: a check that perhaps let a wrong one
 * through. Kept for each definition that was read. A branch is named by its thread and how
 * many it had made; one run may be told to take one of them the other way. */
#include "loom/grind/define.h"

#define CHECKS (1u << 22) /* as many as there are definitions */

struct check {
	const struct value_site *site;
	uint64_t number;
	uint32_t definition, thread;
};
static struct check *checks;

static void note(uint32_t number, const struct value_site *site, uint64_t branch)
{
	const struct load *load = define_load_numbered(number);

	if (load && load->site)
		checks[load->definition[0] % CHECKS] = (struct check){ .site = site,
								       .number = branch,
								       .definition = load->definition[0],
								       .thread = grind.thread->number };
}

bool define_checked(uint64_t mark, const struct value_site *site)
{
	const struct isolate_branch *other = &define.area->other_way;
	uint64_t branch = ++define_thread()->nchecked;

	if (!checks) {
		SysRes result = VG_(am_mmap_anon_float_valgrind)(CHECKS * sizeof *checks);

		if (sr_isError(result))
			return false;
		checks = (struct check *)sr_Res(result);
	}
	note(MARK_FIRST(mark), site, branch);
	note(MARK_SECOND(mark), site, branch);
	if (LIKELY(other->number != branch || other->thread != grind.thread->number))
		return false;
	define.area->met++;
	return true;
}

struct isolate_branch define_check_of(uint32_t definition)
{
	const struct check *check = checks ? &checks[definition % CHECKS] : NULL;

	if (!check || !check->site || check->definition != definition)
		return (struct isolate_branch){ 0 };
	return (struct isolate_branch){ .place = define_place(check->site->pc, 0),
					.number = check->number,
					.thread = check->thread };
}
