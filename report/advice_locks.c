/* Fixes by what locks the threads hold: a section that is too short, different locks for the
 * same data, one side without a lock, or locks that are right where a wait is missing. The
 * group is the first access and the last one of its thread; the rest is what came between.
 */
#include "report/advice_locks.h"

#include <stdlib.h>
#include <string.h>

#include "report/lock_words.h"
#include "report/sentence.h"

#define MOST 12u

struct sides {
	const struct finding_access *from, *to; /* of the group; the same when it is one access */
	const struct finding_access *other;     /* the first of another thread, */
	const struct finding_access *last;      /* and the last of that thread */
	char *group, *stranger;                 /* names of the threads */
	char *start, *end, *between, *finish;   /* places */
	struct excerpts *excerpts;
};

static void sides_free(struct sides *sides)
{
	free(sides->group);
	free(sides->stranger);
	free(sides->start);
	free(sides->end);
	free(sides->between);
	free(sides->finish);
}

static bool sides_find(const struct finding *finding, struct excerpts *excerpts, struct sides *out)
{
	const struct finding_accesses *list = &finding->accesses;
	size_t lane[MOST], n = list->n < MOST ? list->n : MOST;

	*out = (struct sides){ .excerpts = excerpts };
	if (n < 2 || sentence_lanes(list, lane) < 2)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct finding_access *access = &list->items[i];

		if (lane[i] == lane[0]) {
			out->from = out->from ? out->from : access;
			out->to = access;
		} else if (!out->other) {
			out->other = access;
			out->stranger = sentence_thread(list, i);
			out->between = lock_place(access->file, access->line, access->function);
		}
		if (out->other && access->thread == out->other->thread)
			out->last = access;
	}
	out->finish = lock_place(out->last->file, out->last->line, out->last->function);
	out->group = sentence_thread(list, 0);
	out->start = lock_place(out->from->file, out->from->line, out->from->function);
	out->end = lock_place(out->to->file, out->to->line, out->to->function);
	return true;
}

/* A lock that all accesses hold; NULL when there is none. */
static const struct finding_lock *common_lock(const struct finding *finding)
{
	const struct finding_access *first = &finding->accesses.items[0];

	for (size_t i = 0; i < first->locks.n; i++) {
		bool all = true;

		for (size_t a = 1; a < finding->accesses.n; a++)
			all &= lock_held(&finding->accesses.items[a], first->locks.items[i].object) != NULL;
		if (all)
			return &first->locks.items[i];
	}
	return NULL;
}

/* All hold it: then it is given back too early, or it lets in several, or the order is nobody's. */
static char *with_common(const struct finding *finding, const struct sides *sides,
			 const struct finding_lock *lock)
{
	_cleanup_free_ char *name = lock_words(lock, sides->excerpts);
	const struct finding_lock *last = lock_held(sides->to, lock->object);

	if (finding->class == FINDING_ORDER || sides->from == sides->to)
		return memory_format(
			"A wait is missing: both hold %s, but a lock does not say who comes first. Let %s "
			"wait at %s until %s has done %s: on a condition variable with %s, a semaphore or a "
			"join.",
			name, sides->group, sides->start, sides->stranger, sides->between, name);
	if (last->section == lock->section)
		return memory_format("All of them hold %s, but not alone: whoever changes something must "
				     "take it for writing, also at %s.",
				     name, sides->between);
	_cleanup_free_ char *taken = lock_place(lock->file, lock->line, lock->function);
	_cleanup_free_ char *again = lock_place(last->file, last->line, last->function);
	_cleanup_free_ char *place = lock_place(lock->file, lock->given_back, lock->back);
	_cleanup_free_ char *back = *lock->back ? memory_format(" at %s", place) : memory_string("");

	return memory_format("The section is too short: %s gives %s back%s and takes it again at %s. Keep "
			     "it from %s until %s is done, or look again after taking it the second time.",
			     sides->group, name, back, again, taken, sides->end);
}

/* The lock that the group holds at its first access, and at its last if possible. */
static const struct finding_lock *lock_of_group(const struct sides *sides)
{
	for (size_t i = 0; i < sides->from->locks.n; i++)
		if (lock_held(sides->to, sides->from->locks.items[i].object))
			return &sides->from->locks.items[i];
	return sides->from->locks.n ? &sides->from->locks.items[0]
	       : sides->to->locks.n ? &sides->to->locks.items[0]
				    : NULL;
}

static bool is_one_section(const struct sides *sides, const struct finding_lock *lock)
{
	const struct finding_lock *first = lock_held(sides->from, lock->object),
				  *last = lock_held(sides->to, lock->object);

	return first && last && first->section == last->section;
}

static char *other_without(const struct sides *sides, const struct finding_lock *lock)
{
	_cleanup_free_ char *name = lock_words(lock, sides->excerpts);

	if (is_one_section(sides, lock))
		return memory_format("%s holds no lock at %s; %s holds %s. Take %s there, too.",
				     sides->stranger, sides->between, sides->group, name, name);
	return memory_format(
		"%s holds no lock at %s, and %s does not hold %s all the way: hold it from %s to "
		"%s, and around %s.",
		sides->stranger, sides->between, sides->group, name, sides->start, sides->end,
		sides->between);
}

static char *group_without(const struct sides *sides)
{
	_cleanup_free_ char *name = lock_words(&sides->other->locks.items[0], sides->excerpts);

	if (sides->from == sides->to)
		return memory_format("%s holds no lock at %s; %s holds %s. Take %s there, too.", sides->group,
				     sides->start, sides->stranger, name, name);
	return memory_format("%s holds no lock; %s holds %s at %s. Hold %s from %s to %s, too.", sides->group,
			     sides->stranger, name, sides->between, name, sides->start, sides->end);
}

static char *different(const struct sides *sides, const struct finding_lock *lock)
{
	_cleanup_free_ char *one = lock_words(lock, sides->excerpts);
	_cleanup_free_ char *other = lock_words(&sides->other->locks.items[0], sides->excerpts);
	bool alike = !strcmp(one, other);

	return memory_format("Different locks%s: %s holds %s at %s, %s holds %s at %s, and neither keeps the "
			     "other out. Use one lock for both, from %s to %s.",
			     alike ? " of one name" : "", sides->group, one, sides->start, sides->stranger,
			     other, sides->between, sides->start, sides->end);
}

/* A lock that the group holds at one end and the other thread too; NULL. */
static const struct finding_lock *shared_lock(const struct sides *sides)
{
	for (size_t i = 0; i < sides->other->locks.n; i++) {
		const struct finding_lock *lock = &sides->other->locks.items[i];

		if (lock_held(sides->from, lock->object) || lock_held(sides->to, lock->object))
			return lock;
	}
	return NULL;
}

/* It is the right lock, but some of the accesses are outside of it. */
static char *not_all_the_way(const struct sides *sides, const struct finding_lock *lock)
{
	_cleanup_free_ char *name = lock_words(lock, sides->excerpts);
	bool early = lock_held(sides->from, lock->object);
	_cleanup_free_ char *rest = sides->last == sides->other
					    ? memory_string("")
					    : memory_format(", and %s from %s to %s", sides->stranger,
							    sides->between, sides->finish);

	return memory_format("%s holds %s at %s, but not at %s. Let it hold %s from %s to %s%s.",
			     sides->group, name, early ? sides->start : sides->end,
			     early ? sides->end : sides->start, name, sides->start, sides->end, rest);
}

char *advice_from_locks(const struct finding *finding, struct excerpts *excerpts)
{
	_cleanup_(sides_free) struct sides sides = { 0 };

	if (finding_has_calls(finding) || !locks_all_known(finding) || !locks_any(finding) ||
	    !sides_find(finding, excerpts, &sides))
		return NULL;
	const struct finding_lock *common = common_lock(finding), *group = lock_of_group(&sides);

	if (common)
		return with_common(finding, &sides, common);
	if (finding->class == FINDING_ORDER)
		return NULL;       /* no lock makes an order */
	if (!sides.other->locks.n) /* what a third one holds says nothing of these two */
		return group ? other_without(&sides, group) : NULL;
	const struct finding_lock *shared = shared_lock(&sides);

	if (shared)
		return not_all_the_way(&sides, shared);
	return group ? different(&sides, group) : group_without(&sides);
}
