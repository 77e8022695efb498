/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions: those that load, store, branch or jump, whom a load mostly reads from, and
 * those that make a value of nothing in memory. */
#include "loom/grind/define.h"

static Addr *makers; /* instructions */
static uint32_t nmakers;

uint32_t define_maker(Addr pc)
{
	if ((nmakers & (nmakers - 1)) == 0)
		makers = VG_(realloc)("define.makers", makers, 2 * (nmakers + 1) * sizeof *makers);
	makers[nmakers] = pc;
	return MARK_MADE | nmakers++;
}

Addr define_made_at(uint64_t mark)
{
	uint32_t number = MARK_FIRST(mark);

	return number & MARK_MADE ? makers[number & ~MARK_MADE] : 0;
}

static bool is_watched(Addr pc)
{
	const struct isolate_area *area = define.area;
	const DebugInfo *info = area->nwatched && code_kind(pc) == CODE_PROGRAM
					? VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc)
					: NULL;
	Addr at = info ? pc - (Addr)VG_(DebugInfo_get_text_bias)(info) : 0;

	for (uint32_t i = 0; info && i < area->nwatched; i++)
		if (at >= area->watched[i].from && at < area->watched[i].to)
			return true;
	return false;
}

struct value_site *define_site(Addr pc, uint32_t size, Addr after)
{
	static uint32_t number;
	struct value_site *site = VG_(calloc)("define.site", 1, sizeof *site);

	*site = (struct value_site){ .pc = pc,
				     .number = number++,
				     .size = size,
				     .kind = code_kind(pc),
				     .planned = suppress_has_key(pc),
				     .in_header = site_in_header(pc),
				     .watched = is_watched(pc),
				     .after = after };
	if (site->kind == CODE_PROGRAM)
		site->givers = VG_(calloc)("define.givers", 1, sizeof *site->givers);
	return site;
}

bool define_is_strange(const struct load *load)
{
	const struct value_givers *givers = load->site->givers;
	const struct definition *from = define_numbered(load->definition[0]);

	uint32_t others = 0;

	for (uint32_t i = 0; givers && from && i < givers->n; i++) {
		if (givers->items[i].site == from->site)
			return 2 * givers->items[i].n < givers->all;
		others += givers->items[i].n;
	}
	return givers && from && 2 * others > givers->all; /* it found no room */
}
