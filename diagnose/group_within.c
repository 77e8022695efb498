/* Groups within groups. Methods tell one fault by several groups of accesses, each at another
 * time of the run, or with an access that the failing run did not live to see. So the
 * places of a group are looked for anywhere in the traced runs: a group is a part of
 * another one when a thread comes to both its ends on the shortest way from the other's
 * first access to its last.
 */
#include "diagnose/proposals.h"

#include "base/hash.h"
#include "diagnose/lock_stack.h"

const struct claim_part *group_end(const struct claim_parts *parts)
{
	const struct claim_part *last = &parts->items[0];

	for (size_t i = 1; i < parts->n; i++)
		last = parts->items[i].thread == parts->items[0].thread ? &parts->items[i] : last;
	return last;
}

bool group_section(const struct observations *run, uint32_t thread, size_t event, size_t *start)
{
	struct lock_stack locks = { 0 };

	for (size_t i = 0; i < run->ncalls && run->calls[i].before <= event; i++)
		if (run->calls[i].thread == thread)
			lock_stack_follow(&locks, &run->calls[i]);
	if (locks.n)
		*start = locks.held[locks.n - 1].before;
	return locks.n > 0;
}

static bool is_same_section(const struct observations *run, const struct claim_part *a,
			    const struct claim_part *b)
{
	size_t one, other;

	if (a->thread != b->thread || a->at >= run->nevents || b->at >= run->nevents)
		return false;
	return a->at == b->at || (group_section(run, a->thread, a->at, &one) &&
				  group_section(run, b->thread, b->at, &other) && one == other);
}

bool group_is_same_stretch(const struct evidence *evidence, const struct proposal *a,
			   const struct proposal *b)
{
	return a->claim.kind == CLAIM_ATOMIC && b->claim.kind == CLAIM_ATOMIC &&
	       is_same_section(evidence->run, &a->parts.items[0], &b->parts.items[0]) &&
	       is_same_section(evidence->run, group_end(&a->parts), group_end(&b->parts));
}

/* The group of role 0, by its ends. */
struct ends {
	const struct claim_step *first, *last;
};

static struct ends ends_of(const struct claim *claim)
{
	struct ends ends = { &claim->steps[0], &claim->steps[0] };

	for (uint32_t i = 1; i < claim->nsteps; i++)
		if (claim->steps[i].role == claim->steps[0].role)
			ends.last = &claim->steps[i];
	return ends;
}

enum { INNER_FIRST = 1, INNER_LAST = 2, OUTER_FIRST = 4, OUTER_LAST = 8 };

static unsigned ends_at(const struct ends *inner, const struct ends *outer, uint64_t id)
{
	return (claim_has_site(inner->first, id) ? INNER_FIRST : 0u) |
	       (claim_has_site(inner->last, id) ? INNER_LAST : 0u) |
	       (claim_has_site(outer->first, id) ? OUTER_FIRST : 0u) |
	       (claim_has_site(outer->last, id) ? OUTER_LAST : 0u);
}

/* How far a thread has come: in the outer group, at the inner one's first access, behind its last. */
enum progress { OUTSIDE, IN_OUTER, IN_INNER, PAST_INNER };

/* True when both ends of the inner group were met by the time the outer one ends. A place may be several ends: what
 * ends there ends before anything begins. */
static bool step_on(uint64_t *progress, unsigned ends)
{
	if (ends & INNER_LAST && *progress == IN_INNER)
		*progress = PAST_INNER;
	if (ends & OUTER_LAST && *progress != OUTSIDE) {
		if (*progress == PAST_INNER)
			return true;
		*progress = OUTSIDE;
	}
	if (ends & OUTER_FIRST)
		*progress = IN_OUTER;
	if (ends & INNER_FIRST && *progress == IN_OUTER)
		*progress = IN_INNER;
	return false;
}

static bool is_within_in(const struct observations *run, const unsigned char *bits, size_t nbits)
{
	struct map threads = { 0 }; /* enum progress */
	bool found = false;

	for (size_t i = 0; run && i < run->nevents && !found; i++) {
		const struct event *event = &run->events[i];
		unsigned ends = event->site < nbits ? bits[event->site] : 0;

		if (ends)
			found = step_on(map_put(&threads, event->thread + 1, NULL), ends);
	}
	map_free(&threads);
	return found;
}

bool group_is_within(const struct evidence *evidence, const struct proposal *inner,
		     const struct proposal *outer)
{
	const struct atlas *atlas = evidence->atlas;

	if (inner->claim.kind != CLAIM_ATOMIC || outer->claim.kind != CLAIM_ATOMIC)
		return false;
	const struct ends in = ends_of(&inner->claim), out = ends_of(&outer->claim);

	if (claim_has_site(out.first, in.first->sites[0]) && claim_has_site(out.last, in.last->sites[0]))
		return false;
	_cleanup_free_ unsigned char *bits = memory_alloc(atlas->nnumbered + 1);

	for (size_t i = 0; i < atlas->nnumbered; i++)
		if (atlas->numbered[i])
			bits[i] = (unsigned char)ends_at(&in, &out, atlas->numbered[i]->id);
	bool found = is_within_in(evidence->run, bits, atlas->nnumbered);

	for (size_t i = 0; i < evidence->npassed && !found; i++)
		found = is_within_in(evidence->passed[i].story.traced, bits, atlas->nnumbered);
	return found;
}
