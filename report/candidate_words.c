/* One table for each thing that a scan says of its candidates.
 */
#include "report/candidate_words.h"

#include <string.h>

#include "base/memory.h"

const char *pruned_words(enum pruned rule)
{
	static const char *const words[PRUNED_RULES] = {
		[PRUNED_ONE_THREAD] = "only one thread ever does both",
		[PRUNED_BEFORE] = "one is done before the other's thread is created",
		[PRUNED_AFTER] = "one is done after the other's thread was joined",
		[PRUNED_APART] = "one thread has ended when the other begins",
		[PRUNED_ELSEWHERE] = "each thread was given a place of its own",
		[PRUNED_TYPES] = "by C's rules for types they touch different things",
	};

	return words[rule];
}

const char *candidate_kind_words(enum candidate_kind kind)
{
	static const char *const words[CANDIDATE_KINDS] = {
		[CANDIDATE_RACE] = "data race",
		[CANDIDATE_ORDER] = "order",
		[CANDIDATE_ATOMICITY] = "atomicity",
		[CANDIDATE_MULTI_ATOMICITY] = "atomicity of two variables",
		[CANDIDATE_DEADLOCK] = "deadlock",
	};

	return words[kind];
}

const char *candidate_parallel_words(enum candidate_parallel parallel)
{
	static const char *const words[CANDIDATE_PARALLELS] = {
		[PARALLEL_UNKNOWN] = "",
		[PARALLEL_CALLERS] = "several threads may call this",
		[PARALLEL_CREATED] = "several threads are created there",
		[PARALLEL_BEFORE_JOIN] = "one thread creates the other, and this is before its join",
		[PARALLEL_UNJOINED] = "one thread creates the other and no join is known",
		[PARALLEL_SIBLINGS] = "neither thread is joined before the other is created",
	};

	return words[parallel];
}

/* %s is the lock. */
static const char *const notes[CANDIDATE_NOTES] = {
	[NOTE_ONE_LOCK] = "both hold %s: only their order can be wrong",
	[NOTE_HALF_LOCKED] = "one side holds a lock, the other does not",
	[NOTE_BOTH_ATOMIC] = "both are atomic operations",
	[NOTE_ONE_ATOMIC] = "one is an atomic operation, the other is not",
	[NOTE_OWN_ARGUMENT] = "each thread reaches it through an argument of its own",
	[NOTE_ITS_ELEMENT] = "one side fills elements, each thread is given one of them",
	[NOTE_OWN_ELEMENT] = "each thread seems to use elements of its own",
	[NOTE_ELEMENTS] = "elements of an array, maybe different ones",
	[NOTE_MADE_HERE] = "each thread makes one of its own",
	[NOTE_LATE_WRITE] = "written by the creator when the thread may already run",
	[NOTE_FREED] = "one frees the block",
	[NOTE_MANY_PLACES] = "the pointer may lead to many places",
	[NOTE_ANYWHERE] = "the pointer may lead nearly anywhere",
	[NOTE_BARRIER] = "a barrier stands between them on every way",
	[NOTE_SEMAPHORE] = "a semaphore is posted behind the one and waited for before the other",
	[NOTE_CONDITION] = "a condition is signalled behind the one and waited for before the other",
	[NOTE_BEHIND_JOIN] = "one is behind a join, which may be the other's",
	[NOTE_UNWINDING] = "only when an exception was thrown",
	[NOTE_NOT_OURS] = "in a header that came with the system",
	[NOTE_MODIFIES] = "the value written depends on the value read before",
	[NOTE_USES_FOUND] = "the second access uses what the first found",
	[NOTE_DONE_BECAUSE] = "the second access is done because of what the first found",
	[NOTE_UNTIED] = "nothing in the text ties the second access to the first",
	[NOTE_LOOKED_AGAIN] = "it is looked at again when the lock has been given back",
	[NOTE_GIVEN_BACK] = "%s is given back in between",
	[NOTE_OTHER_ROUND] = "in different rounds of a loop",
	[NOTE_OTHERS_SECTION] = "the other side uses both under one lock, this one apart",
	[NOTE_SECOND_DEPENDS] = "what is done to the second depends on the first",
	[NOTE_ONE_KIND] = "two locks of one kind, maybe always in the same order",
	[NOTE_GATED] = "both threads hold another lock that lets only one of them in",
	[NOTE_JOIN_LOCKED] = "the one waits for the other's end and holds a lock that the other takes",
	[NOTE_AWAIT_LOCKED] =
		"the one waits at a condition and holds a lock that the other takes before it signals",
};

char *candidate_note_words(const struct candidate_reason *reason)
{
	const char *words = notes[reason->note], *gap = words ? strstr(words, "%s") : NULL;

	if (!gap)
		return words ? memory_string(words) : NULL;
	return memory_format("%.*s%s%s", (int)(gap - words), words, reason->lock ? reason->lock : "a lock",
			     gap + 2);
}
