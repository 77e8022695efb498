/* Fixes by the shape of the fault. The lines are named, since the point of most fixes is
 * from where to where.
 */
#include "model/place.h"
#include "report/advice.h"

#include <stdlib.h>
#include <string.h>

#include "model/library_state.h"
#include "report/advice_locks.h"
#include "report/advice_waits.h"
#include "report/lock_words.h"

/* "tickets.c:28" */
static char *at(const struct finding_access *access)
{
	return place_words(access->file, access->line, access->function);
}

static const char *name(const struct finding *finding, size_t i)
{
	return i < finding->variables.n ? finding->variables.items[i] : "it";
}

/* "from tickets.c:28 to tickets.c:31, also around tickets.c:55"; "around tickets.c:28" where it is all one line. */
static char *stretch(const struct finding *finding)
{
	const struct finding_accesses *list = &finding->accesses;
	_cleanup_free_ char *from = at(&list->items[0]), *to = at(&list->items[list->n - 1]),
			    *middle = at(&list->items[1]);
	_cleanup_free_ char *own = strcmp(from, to) ? memory_format("from %s to %s", from, to)
						    : memory_format("around %s", from);

	if (!strcmp(middle, from) && !strcmp(from, to))
		return memory_string(own);
	return memory_format("%s, also around %s", own, middle);
}

static char *for_triple(const struct finding *finding)
{
	const struct finding_access *a = &finding->accesses.items[0],
				    *c = &finding->accesses.items[finding->accesses.n - 1];
	_cleanup_free_ char *where = stretch(finding);
	bool apart = strcmp(a->function, c->function) != 0;

	switch (finding->scenario) {
	case 4:
		return memory_format("Hold one lock %s; or keep the value in a local variable and use that.",
				     where);
	case 5:
		return memory_format(
			"Make reading and writing one step: hold one lock %s%s; or check again "
			"under the lock before writing; for a plain number an atomic update does.",
			where, apart ? " (one lock each is not enough)" : "");
	case 6:
		return memory_format("Hold the lock while %s is in use, %s; or read it once into a local "
				     "variable and use that.",
				     name(finding, 0), where);
	case 7:
		return memory_format(
			"Publish last: make the new value ready aside and write %s once; or hold "
			"one lock %s.",
			name(finding, 0), where);
	default:
		return memory_format("Hold one lock %s.", where);
	}
}

static char *for_order(const struct finding *finding)
{
	const struct finding_access *first = &finding->accesses.items[0],
				    *second = &finding->accesses.items[finding->accesses.n - 1];
	_cleanup_free_ char *early = at(first), *late = at(second);

	if (finding->scenario == 2)
		return memory_format("Wait for it: %s must not run before %s is done. Do the write before "
				     "the thread is started, or let it wait on a condition, a semaphore or "
				     "a join.",
				     early, late);
	if (finding->scenario == 1)
		return memory_format("Hold while in use: the write at %s must wait until the other thread is "
				     "done with %s. Join it first, count its users, or let it say that it "
				     "is done.",
				     early, late);
	return memory_format("Wait for it: the write at %s must come after the one at %s; let its thread "
			     "wait on a condition, a semaphore or a join.",
			     early, late);
}

static char *for_several(const struct finding *finding)
{
	if (finding->variables.n < 2)
		return memory_string("These accesses belong together: hold one lock around all of them, in "
				     "both threads.");
	return memory_format("%s and %s belong together: change both under one lock and read both under the "
			     "same one, without letting go in between.",
			     name(finding, 0), name(finding, 1));
}

/* The other way to keep a block: by the lock that is there already, if there is one. */
static char *lock_of_freed(const struct finding_access *freeing, const struct finding_access *use,
			   struct excerpts *excerpts)
{
	for (size_t i = 0; i < use->locks.n; i++) {
		const struct finding_lock *lock = &use->locks.items[i];
		_cleanup_free_ char *name = lock_words(lock, excerpts);

		if (lock_held(freeing, lock->object))
			return memory_format("look the block up again after taking %s: both hold it, but the "
					     "block was found before it was taken.",
					     name);
	}
	if (use->locks.n && freeing->locks_known) {
		_cleanup_free_ char *name = lock_words(&use->locks.items[0], excerpts);

		return memory_format("free it under %s, which its user holds, and look it up under that.",
				     name);
	}
	return memory_string(
		"hold one lock from finding the block to the last use, and free under that lock.");
}

/* The freeing and the last use by another thread; NULL when nothing is freed. */
static char *for_freed(const struct finding *finding, struct excerpts *excerpts)
{
	const struct finding_access *freeing = NULL, *use = NULL;

	for (size_t i = 0; i < finding->accesses.n && !freeing; i++)
		if (finding_frees(&finding->accesses.items[i]))
			freeing = &finding->accesses.items[i];
	for (size_t i = 0; i < finding->accesses.n && freeing; i++)
		if (finding->accesses.items[i].thread != freeing->thread)
			use = &finding->accesses.items[i];
	if (!use)
		return NULL;
	_cleanup_free_ char *where = at(freeing), *used = at(use);
	_cleanup_free_ char *locks = lock_of_freed(freeing, use, excerpts);

	return memory_format(
		"Hold while in use: the block that is freed at %s is still in use at %s. Count its "
		"users and let the last one free it, the count and the look at it in one step; or %s",
		where, used, locks);
}

static bool is_of_several_threads(const struct finding *finding)
{
	for (size_t i = 1; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].thread != finding->accesses.items[0].thread)
			return true;
	return false;
}

static char *for_memory(const struct finding *finding)
{
	const struct finding_accesses *accesses = &finding->accesses;

	/* Which came first says nothing where no run passed. */
	if (is_of_several_threads(finding) && finding->runs.passed)
		return memory_string("Hold one lock around all that these threads do with this memory, from "
				     "where they find it to their last use.");
	if (accesses->n == 1 && accesses->items[0].kind == SITE_WRITE)
		return memory_string("The order of threads does not matter here. Check what is written at "
				     "this line: its place, its length and its value.");
	if (accesses->n >= 2 && finding_frees(&accesses->items[0]) && finding_frees(&accesses->items[1]))
		return memory_string("The order of threads does not matter here. Let one place own the "
				     "block and free it; the other pointer to it is to be cleared.");
	return memory_string("The order of threads does not matter here. unsnarl isolate tells, hop by hop "
			     "and with values, where the value comes from that is used at this line.");
}

/* A lost wake-up of look, write, signal and wait, of which each thread does both of its own in one call of a library? */
static bool is_of_library(const struct finding *finding)
{
	const struct finding_access *accesses = finding->accesses.items;

	return finding->accesses.n == 4 && accesses[2].role && accesses[3].role && *accesses[0].through &&
	       *accesses[1].through && !strcmp(accesses[0].through, accesses[3].variable) &&
	       !strcmp(accesses[1].through, accesses[2].variable);
}

/* By the class and the shape alone. */
static char *by_shape(const struct finding *finding)
{
	switch (finding->class) {
	case FINDING_ATOMICITY:
		if (finding_has_calls(finding))
			return memory_string(
				"Look at the condition again when the wait is over: wait in a while "
				"loop, not behind an if.");
		if (finding->accesses.n >= 3 && finding->scenario)
			return for_triple(finding);
		return memory_string("Hold one lock around these accesses, in both threads.");
	case FINDING_MULTI_ATOMICITY:
		return for_several(finding);
	case FINDING_ORDER:
		if (finding->accesses.n >= 2 && finding->scenario)
			return for_order(finding);
		return memory_string("Let the one thread wait for the other: a condition, a semaphore, a "
				     "join.");
	case FINDING_RACE:
		return memory_string("Hold the same lock around both, or make them atomic.");
	case FINDING_DEADLOCK:
		return advice_on_waits(finding);
	case FINDING_LOST_WAKEUP:
		if (is_of_library(finding))
			return memory_format("The look and the wait are both inside %s, the write and the "
					     "signal inside %s: the fault is theirs. Take a newer version of "
					     "that library, or wait with a mutex and a condition variable.",
					     finding->accesses.items[0].through,
					     finding->accesses.items[1].through);
		if (finding_taken_signal(finding))
			return advice_on_taken_signal(finding);
		return memory_string("Check the condition and wait under one mutex, in a while loop, and "
				     "change the condition under that mutex before signalling.");
	case FINDING_MEMORY:
		return for_memory(finding);
	default:
		return memory_string("");
	}
}

/* Functions of libc that are not for threads have others beside them that are; NULL: none is in the finding. */
static char *for_library(const struct finding *finding)
{
	static const char *const instead[LIBRARY_STATES] = {
		[STATE_TOKEN] = "strtok has one position for all threads: use strtok_r, with one for each.",
		[STATE_TIME] = "gmtime and localtime return the same memory to all threads: use gmtime_r and "
			       "localtime_r.",
		[STATE_DATE] = "asctime and ctime return the same memory to all threads: use strftime, or "
			       "asctime_r and "
			       "ctime_r."
	};

	for (size_t i = 0; i < finding->accesses.n; i++) {
		enum library_state state = library_state_named(finding->accesses.items[i].variable);

		if (state != LIBRARY_STATES)
			return memory_string(instead[state]);
	}
	return NULL;
}

char *advice_for(const struct finding *finding, struct excerpts *excerpts)
{
	char *advice = for_library(finding);

	advice = advice ? advice : for_freed(finding, excerpts);

	advice = advice ? advice : advice_from_locks(finding, excerpts);
	if (advice)
		return advice;
	advice = by_shape(finding);
	if (!locks_all_known(finding) || locks_any(finding) || finding_has_calls(finding) ||
	    finding->class == FINDING_ORDER || finding->class == FINDING_MEMORY)
		return advice;
	char *whole = memory_format("None of these holds a lock. %s", advice);

	free(advice);
	return whole;
}
