/* A deadlock is told by the locks that threads have and the calls in which they are stuck
 * (diagnose/method_waits.c). What helps depends on why those who have a lock keep it: they
 * want another one, the same one, wait for something else, or have ended.
 */
#include "report/advice_waits.h"

#include <string.h>

#include "base/memory.h"
#include "model/place.h"

static bool is_lock(const struct finding_access *access)
{
	return access->role && !strcmp(access->role, "lock");
}

/* The first lock that somebody has; NULL when none is told. */
static const struct finding_access *first_held(const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (!finding->accesses.items[i].missing && is_lock(&finding->accesses.items[i]))
			return &finding->accesses.items[i];
	return NULL;
}

/* Where the thread is stuck; NULL: it has ended. */
static const struct finding_access *stuck_at(const struct finding *finding, uint32_t thread)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].missing && finding->accesses.items[i].thread == thread)
			return &finding->accesses.items[i];
	return NULL;
}

/* Does anybody wait for something else than a lock? */
static const struct finding_access *first_wait(const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].missing && !is_lock(&finding->accesses.items[i]))
			return &finding->accesses.items[i];
	return NULL;
}

static bool is_alone(const struct finding *finding)
{
	for (size_t i = 1; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].thread != finding->accesses.items[0].thread)
			return false;
	return true;
}

static char *place(const struct finding_access *access)
{
	return place_words(access->file, access->line, access->function);
}

static char *without_lock(const struct finding *finding)
{
	const struct finding_access *wait = first_wait(finding);

	if (!wait)
		return memory_string("Look for the way on which the lock is taken and not given back.");
	_cleanup_free_ char *where = place(wait);

	return memory_format(
		"Nobody is left who could end the wait at %s. Every way on which others go without "
		"doing what it waits for has to tell it so: change what it looks at, and signal.",
		where);
}

static char *with_lock(const struct finding *finding, const struct finding_access *held)
{
	const struct finding_access *stuck = stuck_at(finding, held->thread);
	_cleanup_free_ char *taken = place(held);

	if (!stuck)
		return memory_format(
			"Give the lock that is taken at %s back on every way out, early returns and "
			"errors included.",
			taken);
	_cleanup_free_ char *where = place(stuck);

	if (is_alone(finding))
		return memory_format(
			"The lock is taken at %s and wanted again by the same thread at %s: give it "
			"back before, or do the inner part without taking it.",
			taken, where);
	if (!is_lock(stuck))
		return memory_format(
			"Do not wait at %s with the lock that is taken at %s: give it back before.", where,
			taken);
	return memory_string(
		"Take the locks in the same order everywhere; where that is not possible, take both "
		"at once (std::scoped_lock) or try the second one and give the first back.");
}

/* The call that wakes all instead of one. */
static const char *broadcast_for(const char *call)
{
	return strstr(call, "notify") ? "notify_all"
	       : strstr(call, "cnd_") ? "cnd_broadcast"
				      : "pthread_cond_broadcast";
}

static char *signals(const struct finding *finding, size_t n)
{
	char *text = memory_string("");

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *where = place(&finding->accesses.items[i]);
		char *longer = memory_format("%s%s%s", text, i ? " and " : "", where);

		cleanup_free(&text);
		text = longer;
	}
	return text;
}

char *advice_on_taken_signal(const struct finding *finding)
{
	size_t n = finding->accesses.n - 2;
	const struct finding_access *accesses = finding->accesses.items, *taker = &accesses[n],
				    *stuck = &accesses[n + 1];
	_cleanup_free_ char *where = signals(finding, n), *one = place(taker), *other = place(stuck);
	const char *name = *accesses->variable ? accesses->variable : "the signal";
	const char *all = broadcast_for(name);

	if (strcmp(one, other))
		return memory_format("Call %s instead of %s at %s: threads wait there for different things "
				     "(%s, %s), and a signal wakes one of them, whichever it is. A condition "
				     "variable of its own for each of these does as well.",
				     all, name, where, one, other);
	return memory_format(
		"Call %s instead of %s at %s: several threads wait at %s, and a signal wakes one "
		"of them, whichever it is. One signal is enough only where any one of them will "
		"do, and then one for each thing that is added.",
		all, name, where, one);
}

/* The call with which the child began that waits; NULL: it is no such deadlock. */
static const struct finding_access *fork_of(const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].role && !strcmp(finding->accesses.items[i].role, "fork"))
			return &finding->accesses.items[i];
	return NULL;
}

static char *after_fork(const struct finding_access *fork)
{
	_cleanup_free_ char *where = place(fork);

	return memory_format(
		"Between the fork at %s and an exec the child may call nothing that takes a lock. Or "
		"take the lock before the fork and give it back behind it, in parent and child: "
		"pthread_atfork has a handler for each.",
		where);
}

char *advice_on_waits(const struct finding *finding)
{
	const struct finding_access *fork = fork_of(finding);

	if (fork)
		return after_fork(fork);
	const struct finding_access *held = first_held(finding);

	return held ? with_lock(finding, held) : without_lock(finding);
}
