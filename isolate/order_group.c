/* The experiments with a group of accesses of one thread and what another did between them, and
 * with two accesses that came in the wrong order: moved to either side, forbidden, forced;
 * and what the finding that comes of it rests on.
 */
#include "isolate/order_check.h"

/* A group of accesses of one thread, and the access of another that came between them. */
struct order_group {
	struct claim_parts parts;
	size_t first, between, last; /* events */
	size_t own;                  /* where the other thread began the same group; ORDER_NONE: it did not */
	bool mixed;
};

/* Came the move about as it was meant? Then it tells, one way or the other. */
static bool is_clean(const struct order_move *move)
{
	return move->held && !move->given_up;
}

/* The interleaved access behind the whole group: the group as one step in the failing schedule, or this instance
 * of the access waits for this instance of the group's last one. Of two groups that overlap the other one as a whole. */
static struct error *move_in_schedule(struct order_search *search, const struct order_group *group,
				      struct order_move *out)
{
	if (group->own != ORDER_NONE) {
		TRY(order_wait_for(search, group->own, group->last, CLAIM_ATOMIC, out));
		/* Else other groups may overlap, too. */
		if ((is_clean(out) && out->passes) || order_is_over(search))
			return NULL;
	}
	for (int i = 0; i < 2; i++) {
		if ((i == 0) == group->mixed)
			TRY(order_wait_for(search, group->between, group->last, CLAIM_ATOMIC, out));
		else
			TRY(order_forbid(search, CLAIM_ATOMIC, &group->parts, out));
		/* Of a mixed group other instances may still come between. */
		if ((is_clean(out) && (out->passes || i || !group->mixed)) || order_is_over(search))
			break;
	}
	return NULL;
}

/* Where it can be moved in neither way, the group is forced, and its failing run is mended. */
static struct error *move_behind(struct order_search *search, const struct order_group *group, bool *forced,
				 struct order_move *out)
{
	_cleanup_(schedule_free) struct schedule failing = { 0 };
	const struct schedule *original = search->schedule;
	bool came;

	*forced = false;
	TRY(move_in_schedule(search, group, out));
	if (is_clean(out) || order_is_over(search))
		return NULL;
	TRY(order_force(search, CLAIM_ATOMIC, &group->parts, &came, forced, &failing));
	if (!*forced || !failing.nturns || order_is_over(search))
		return NULL;
	search->schedule = &failing;
	search->forced = true;
	struct error *error = order_forbid(search, CLAIM_ATOMIC, &group->parts, out);

	search->schedule = original;
	search->forced = false;
	return error;
}

/* The interleaved access before the whole group. Where it needs what the group does first there is nothing to try:
 * it is as if the one that waits had to be let go. */
static struct error *move_before(struct order_search *search, const struct order_group *group,
				 const struct order_move *behind, struct order_move *out)
{
	*out = *behind;
	if (behind->before)
		return NULL;
	if (order_needs(search, group->first, group->between)) {
		*out = (struct order_move){ .passes = true, .given_up = true, .impossible = true };
		return NULL;
	}
	return order_wait_for(search, group->first, group->between, CLAIM_ATOMIC, out);
}

/* Do a pointer and the use of its freed block stand at one line? Compilers put statements together, so that it is
 * not sure at which line the pointer was read. */
static bool is_one_line(const struct order_search *search, const struct order_group *group)
{
	const struct site *one = group->parts.items[0].site,
			  *other = group->parts.items[group->parts.n - 1].site;

	return search->failure->kind == FAILED_DEAD && one && other && one->line == other->line;
}

/* A group of two accesses of a thread and what came between them: moved behind, moved before, forced. */
struct error *order_check_group(struct order_search *search, const size_t *events, size_t n, size_t between,
				enum finding_class class)
{
	const struct order_group group = { .parts = order_parts(search, events, n),
					   .first = events[0],
					   .between = between,
					   .last = events[n - 1],
					   .own = order_own_group(search, events[0], between),
					   .mixed = order_is_mixed(search, events, n, between) };
	enum order_weight weight = ORDER_GIVEN_UP;
	/* By what a thread had decided to write: it may have had more reasons. */
	const bool decided = n == 3 && class == FINDING_MULTI_ATOMICITY;
	struct order_move behind, before;
	bool came = true, forced;

	if (order_is_over(search) || !order_is_new(search, &group.parts))
		return NULL;
	TRY(move_behind(search, &group, &forced, &behind));
	if (!behind.passes)
		return NULL;
	TRY(move_before(search, &group, &behind, &before));
	bool both = before.passes && !before.given_up;

	if (!behind.given_up)
		weight = ORDER_PASSED;
	if (before.passes && !behind.given_up && !forced)
		TRY(order_force(search, CLAIM_ATOMIC, &group.parts, &came, &forced, NULL));
	/* What cannot come before the group, since it needs the group's first access, is shown by force; where it
	 * cannot be forced either, the original execution is what shows it. */
	if (before.passes && !behind.given_up && (both || forced || (before.impossible && !came)))
		weight =
			both && forced && !is_one_line(search, &group) && !decided ? ORDER_SURE : ORDER_SHOWN;
	bool one_step = both || weight == ORDER_SHOWN;

	order_tell(search, one_step ? class : FINDING_ORDER,
		   both       ? ORDER_BETWEEN
		   : one_step ? ORDER_BETWEEN_ONLY
			      : ORDER_CHANGED_EARLY,
		   weight, &group.parts);
	return NULL;
}

/* Two accesses in the wrong order. `story` tells which of them came too early: the first. */
struct error *order_check_pair(struct order_search *search, size_t first, size_t second,
			       enum isolate_story story)
{
	struct claim_parts pair = order_parts(search, (const size_t[]){ first, second }, 2);
	struct order_move move;
	size_t there, back;
	bool came, fails;

	if (order_is_over(search) || !order_is_new(search, &pair))
		return NULL;
	TRY(order_wait_for(search, first, second, CLAIM_ORDER, &move));
	/* Where it did not come to the instances, all of them. */
	if (!move.held && !order_is_over(search))
		TRY(order_forbid(search, CLAIM_ORDER, &pair, &move));
	if (!move.passes)
		return NULL;
	enum order_weight weight = move.given_up         ? ORDER_GIVEN_UP
				   : search->reading_far ? ORDER_PASSED
							 : ORDER_SHOWN;

	/* Of writes that cross at another place this is not the whole: forcing would not make it so. */
	if (order_crosses(search, first, second, &there, &back)) {
		weight = move.given_up ? ORDER_GIVEN_UP : ORDER_PASSED;
	} else if (!move.given_up) {
		TRY(order_force(search, CLAIM_ORDER, &pair, &came, &fails, NULL));
		if (came && fails)
			weight = ORDER_SURE;
	}
	order_tell(search, FINDING_ORDER, story, weight, &pair);
	return NULL;
}
