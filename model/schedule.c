/* Schedules as values: copied, freed, hashed, counted. The text is next door in
 * schedule_text.c.
 */
#include "model/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void schedule_free(struct schedule *schedule)
{
	for (char **argument = schedule->arguments; argument && *argument; argument++)
		free(*argument);
	free(schedule->arguments);
	free(schedule->program);
	free(schedule->turns);
	free(schedule->waits);
	free(schedule->sites);
	free(schedule->uncontrolled);
	free(schedule->claim);
	*schedule = (struct schedule){ 0 };
}

static void *copy_of(const void *items, size_t size)
{
	void *copy = size ? memory_alloc(size) : NULL;

	if (size)
		memcpy(copy, items, size);
	return copy;
}

struct schedule schedule_copy(const struct schedule *schedule)
{
	struct schedule copy = *schedule;
	size_t n = 0;

	while (schedule->arguments && schedule->arguments[n])
		n++;
	copy.program = schedule->program ? memory_string(schedule->program) : NULL;
	copy.arguments = schedule->arguments ? memory_alloc((n + 1) * sizeof *copy.arguments) : NULL;
	for (size_t i = 0; i < n; i++)
		copy.arguments[i] = memory_string(schedule->arguments[i]);
	copy.turns = copy_of(schedule->turns, schedule->nturns * sizeof *schedule->turns);
	copy.waits = copy_of(schedule->waits, schedule->nwaits * sizeof *schedule->waits);
	copy.sites = copy_of(schedule->sites, schedule->nsites * sizeof *schedule->sites);
	copy.uncontrolled = schedule->uncontrolled ? memory_string(schedule->uncontrolled) : NULL;
	copy.claim = copy_of(schedule->claim, schedule->claim ? sizeof *schedule->claim : 0);
	return copy;
}

uint64_t schedule_hash_turn(uint64_t hash, const struct schedule_turn *turn)
{
	uint64_t words[] = { (uint64_t)turn->thread << 32 | (uint64_t)turn->wake << 16 | turn->stop,
			     turn->points, turn->site };

	return hash_bytes(hash, words, sizeof words);
}

uint64_t schedule_hash(const struct schedule_turn *turns, size_t n)
{
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < n; i++)
		hash = schedule_hash_turn(hash, &turns[i]);
	return n ? hash : 0;
}

size_t schedule_preemptions(const struct schedule_turn *turns, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !turns[i].wake && turns[i].stop == STOP_PREEMPTED;
	return count;
}

size_t schedule_switches(const struct schedule_turn *turns, size_t n)
{
	const struct schedule_turn *last = NULL;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (turns[i].wake)
			continue;
		count += last && last->thread != turns[i].thread;
		last = &turns[i];
	}
	return count;
}

const char *schedule_policy_name(enum schedule_policy policy)
{
	static const char *const names[SCHEDULE_POLICIES] = {
		"free", "random",        "pct",        "pos",        "surw",
		"stay", "random-places", "pct-groups", "pos-places", "surw-places",
		"clock",
	};

	return (unsigned)policy < SCHEDULE_POLICIES ? names[policy] : "unknown";
}

const char *schedule_waiting_name(enum schedule_waiting kind)
{
	static const char *const names[WAITING_KINDS] = {
		"nothing", "mutex",     "condition variable", "read lock", "write lock",
		"barrier", "semaphore", "spinlock",           "once",      "thread",
		"address", "input",
	};

	return (unsigned)kind < WAITING_KINDS ? names[kind] : "unknown";
}
