/* One table for each kind of thing that a diagnosis has to name.
 */
#include "report/diagnosis_words.h"

#include <string.h>

#include "base/memory.h"
#include "model/place.h"

const char *diagnosis_stage_words(enum diagnosis_stage stage)
{
	static const char *const words[] = {
		[DIAGNOSIS_PLAIN] = "running the program once as it is",
		[DIAGNOSIS_HUNTING] = "looking for a schedule that fails, and some that pass",
		[DIAGNOSIS_REPLAYING] = "replaying the failure",
		[DIAGNOSIS_SHORTENING] = "making the failing schedule short",
		[DIAGNOSIS_MOVING] = "moving its switches until the failure goes away",
		[DIAGNOSIS_MOVING_BAR] = "moving its switches",
		[DIAGNOSIS_TRACING] = "following the shortest one access by access",
		[DIAGNOSIS_EXPLAINING] = "finding out why",
		[DIAGNOSIS_PROVING] = "forcing and forbidding what may be the cause",
		[DIAGNOSIS_ISOLATING] = "following the crash back, value by value",
	};

	return words[stage];
}

const char *diagnosis_method_words(const char *method)
{
	static const struct {
		const char *method, *words;
	} all[] = {
		{ "waits", "who waits for whom" },
		{ "memory", "what is known of heap blocks" },
		{ "isolate", "the crash, followed back value by value" },
		{ "fault", "the access that crashes" },
		{ "wakes", "what a thread did after it was woken" },
		{ "locate", "comparison with passing runs" },
		{ "locate-shortest", "comparison of the shortest failing run" },
		{ "switches", "the switches that the failure needs" },
		{ "rank", "graphs of communication" },
		{ "scan", "the program's text" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].method, method))
			return all[i].words;
	return method;
}

/* ---- what they say ---- */

static const char *const summaries[] = {
	[TOLD_CANDIDATE] = "The program's text lets these accesses meet.",
	[TOLD_NEAR_SWITCH] = "these are the conflicting accesses nearest to a switch that the failure needs",
	[TOLD_TOO_EARLY] = "the first access came before the second was done",
	[TOLD_TORN] = "accesses that belong together were not one step",
	[TOLD_FREED_TWICE] = "A heap block is freed twice.",
	[TOLD_USED_FREED] = "A heap block is used after it was freed.",
	[TOLD_BEYOND_BLOCK] = "An access goes beyond its heap block.",
	[TOLD_LEAVES_MEMORY] = "This write leaves the memory that it began in.",
	[TOLD_LAST_READ] = "This read is the last thing that the program does.",
	[TOLD_LAST_WRITE] = "This write is the last thing that the program does.",
	[TOLD_OWN_LOCK] = "A thread waits for a lock that it has itself.",
	[TOLD_HANG] = "Threads wait for something that no thread will do.",
};

static char *summary_of(enum diagnosis_told told, uint32_t one, uint32_t other)
{
	switch (told) {
	case TOLD_LOCK_CYCLE:
		return memory_format(
			"%u threads wait for each other: each has the lock that the next one wants.", one);
	case TOLD_JOIN_CYCLE:
		return memory_format("%u threads wait for each other: one for the end of another, which "
				     "wants a lock that it has.",
				     one);
	case TOLD_SIGNAL_MISSED:
		return memory_format(
			"T%u signals before T%u waits; then T%u waits for a signal that never comes "
			"again.",
			one, other, other);
	case TOLD_SIGNAL_TAKEN:
		return memory_format(
			"A signal wakes only one of the threads that wait: T%u takes it, and T%u "
			"waits for one that never comes again.",
			one, other);
	case TOLD_LOCK_KEPT:
		return memory_format("T%u waits to be woken while it has a lock, and T%u waits for that "
				     "lock: nobody is left who could wake it.",
				     one, other);
	case TOLD_LOCK_LEFT:
		return memory_format(
			"T%u has ended and not given a lock back that it took; T%u waits for it.", one,
			other);
	case TOLD_LOCK_COPIED:
		return memory_format(
			"T%u is the child of a fork and waits for a lock that T%u of its parent held at "
			"that moment: T%u is not in the child, so nobody there ever gives it back.",
			one, other, other);
	case TOLD_WOKEN_FOR_NONE:
	case TOLD_WOKEN_TOO_LATE:
		return memory_format("T%u waited because of what it had read, was woken, and went on "
				     "without looking again, although %s.",
				     one,
				     told == TOLD_WOKEN_TOO_LATE ? "others had been quicker"
								 : "nobody had changed it");
	default:
		return memory_string(summaries[told]);
	}
}

static const char *evidence_of(enum diagnosis_told told)
{
	switch (told) {
	case TOLD_NEAR_SWITCH:
		return "The failure needs a switch of threads at this place.";
	case TOLD_FREED_TWICE:
	case TOLD_USED_FREED:
	case TOLD_BEYOND_BLOCK:
		return "The run ended at this access.";
	case TOLD_LEAVES_MEMORY:
	case TOLD_LAST_READ:
	case TOLD_LAST_WRITE:
		return "It fails so in every order of its threads.";
	case TOLD_OWN_LOCK:
	case TOLD_LOCK_CYCLE:
	case TOLD_JOIN_CYCLE:
		return "The cycle was there when the run could not go on.";
	case TOLD_SIGNAL_MISSED:
		return "The signal was given and the wait was open when the run could not go on.";
	case TOLD_SIGNAL_TAKEN:
		return "Both waited there when the signal was given, and one still when the run could not go "
		       "on.";
	case TOLD_LOCK_KEPT:
	case TOLD_LOCK_LEFT:
	case TOLD_LOCK_COPIED:
		return "So it was when the run could not go on.";
	case TOLD_WOKEN_FOR_NONE:
		return "Nobody wrote there while it waited.";
	case TOLD_WOKEN_TOO_LATE:
		return "Several threads wrote there while it waited.";
	default:
		return NULL;
	}
}

void diagnosis_tell(struct finding *finding, enum diagnosis_told told, uint32_t one, uint32_t other)
{
	const char *evidence = evidence_of(told);

	finding->summary = summary_of(told, one, other);
	if (evidence)
		finding->evidence = memory_string(evidence);
}

char *diagnosis_block_words(const struct site *site, uint64_t size)
{
	int through = site_through_length(site->through);

	_cleanup_free_ char *at = place_words(site->file, site->line, site->function);

	return memory_format("the %llu-byte block allocated at %s%s%s%s%.*s%s", (unsigned long long)size, at,
			     site->line ? " in " : "", site->line ? site->function : "", through ? " (" : "",
			     through, through ? site->through : "", through ? ")" : "");
}
