/* A block that one thread frees while another still uses it. That only the failed
 * run shows it says what happened last, not why: the freeing thread was wrong about
 * who uses the block. Where the victim's access ends a triple that the run saw, the
 * two had met on the block before, and that is what went wrong.
 */
#include "analysis/locon/explain.h"

struct use {
	uint32_t thread, site; /* of the access that is not the freeing */
	bool write, before;    /* it came before the freeing */
};

static struct use used(const struct locon *locon, const struct pair *pair)
{
	if (LOCON_IN(locon, frees, pair->tail_site))
		return (struct use){ pair->head_thread, pair->head_site, pair->kind != PAIR_READ_WRITE,
				     true };
	return (struct use){ pair->tail_thread, pair->tail_site, pair->kind != PAIR_WRITE_READ, false };
}

#define NEAR_BLOCK 4096u /* bytes within which two addresses may be of one block */
#define NEAR_CHECK 16u   /* accesses between what the freeing thread did and its own look at it */

static bool same_block(uint64_t a, uint64_t b)
{
	return (a < b ? b - a : a - b) < NEAR_BLOCK;
}

/* The nearest triple of thread `near` with `far` in between, which ends at `last` or, with
 * LOCON_NONE, is short and on the block; LOCON_NONE when there is none. */
static uint32_t find_meeting(const struct locon *locon, uint32_t near, uint32_t far, uint32_t last,
			     uint64_t block)
{
	const struct locon_run *failed = &locon->input->failed;
	uint32_t best = LOCON_NONE;

	for (size_t i = 0; i < failed->ncouples; i++) {
		const struct couple *couple = &failed->couples[i];
		const struct pair *ab = &failed->pairs[couple->first], *bc = &failed->pairs[couple->second];
		bool fits = last != LOCON_NONE ? locon_place(locon, bc->tail_site) == last
					       : couple->span <= NEAR_CHECK && same_block(bc->address, block);

		if (!fits || ab->head_thread != near || ab->tail_thread != far || bc->tail_thread != near ||
		    explain_crossed(couple, ab, bc) || LOCON_IN(locon, frees, ab->tail_site) ||
		    LOCON_IN(locon, frees, bc->tail_site) || !explain_triple(ab, bc) ||
		    !explain_joins(locon, ab, bc, true))
			continue;
		if (best == LOCON_NONE || couple->span < failed->couples[best].span)
			best = (uint32_t)i;
	}
	return best;
}

static void put(struct explain_pattern *out, uint32_t thread, uint32_t site, bool write, uint64_t address)
{
	out->events[out->nevents++] =
		(struct explain_event){ .thread = thread, .site = site, .write = write, .address = address };
}

bool explain_freed(const struct locon *locon, uint32_t at, struct explain_pattern *out)
{
	const struct locon_run *failed = &locon->input->failed;
	const struct pair *pair = &failed->pairs[at];

	if (!LOCON_IN(locon, frees, pair->tail_site) && !LOCON_IN(locon, frees, pair->head_site))
		return false;
	struct use use = used(locon, pair);
	uint32_t freer = use.before ? pair->tail_thread : pair->head_thread;
	uint32_t freeing = use.before ? pair->tail_site : pair->head_site;
	uint32_t found = find_meeting(locon, use.thread, freer, locon_place(locon, use.site), pair->address);
	bool mistaken = found == LOCON_NONE; /* the freeing thread was in the middle of it, not the victim */

	if (mistaken)
		found = find_meeting(locon, freer, use.thread, LOCON_NONE, pair->address);
	if (found == LOCON_NONE)
		return false;
	const struct pair *ab = &failed->pairs[failed->couples[found].first];
	const struct pair *bc = &failed->pairs[failed->couples[found].second];

	*out = (struct explain_pattern){ .class = FINDING_ATOMICITY, .scenario = explain_triple(ab, bc) };
	put(out, ab->head_thread, ab->head_site, ab->kind != PAIR_READ_WRITE, ab->address);
	put(out, ab->tail_thread, ab->tail_site, ab->kind != PAIR_WRITE_READ, ab->address);
	if (mistaken)
		put(out, bc->tail_thread, bc->tail_site, bc->kind != PAIR_WRITE_READ, bc->address);
	if (!use.before)
		put(out, freer, freeing, true, pair->address);
	put(out, use.thread, use.site, use.write, pair->address);
	if (use.before)
		put(out, freer, freeing, true, pair->address);
	return true;
}
