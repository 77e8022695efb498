/* One table for each kind of thing that isolate has to name.
 */
#include "report/isolate_words.h"

#include "base/memory.h"
#include "report/sentence.h"

const char *isolate_order_words(enum isolate_story story)
{
	static const char *const words[] = {
		[ORDER_BETWEEN] =
			"another thread changed the location between two accesses that must be one step: the "
			"failure goes away when its access is moved before them as well as when it is moved "
			"behind them",
		[ORDER_BETWEEN_ONLY] =
			"another thread changed the location between two accesses that must be one step: the "
			"failure goes away when its access is moved behind them, and comes when it is forced "
			"between them",
		[ORDER_READ_BETWEEN] =
			"the location was read between two writes that must be one step: the failure goes "
			"away when the read is moved before them as well as when it is moved behind them",
		[ORDER_CHANGED_EARLY] =
			"one thread changed the location before another was done with it: the failure goes "
			"away when the change waits for the other thread",
		[ORDER_READ_EARLY] =
			"the location was read before another thread had given it its value: the failure "
			"goes away when the read waits for that",
		[ORDER_MISSED] =
			"a thread looked whether it has to wait, and another changed that and gave its "
			"signal before it waited: it does not hang when the look waits for the change",
		[ORDER_UNSAID] = "a thread waits although what it had looked at has changed since, and "
				 "nothing woke it: it "
				 "does not hang when the look waits for the change",
		[ORDER_WOKEN] = "a thread was woken and went on without looking again whether it has to "
				"wait: it does "
				"not fail when it waits on until what it had looked at has changed",
		[ORDER_CYCLE] = "threads wait for each other: each has the lock that the next one wants",
		[ORDER_CYCLE_MENDED] =
			"threads wait for each other: each has the lock that the next one wants; they do not "
			"when one of them waits before it takes its first lock",
		[ORDER_KEPT] =
			"a thread waits while it has a lock that another one wants: nobody is left who could "
			"end the wait",
		[ORDER_KEPT_MENDED] =
			"a thread waits while it has a lock that another one wants: they go on when it waits "
			"before it takes the lock",
		[ORDER_NOT_GIVEN_BACK] =
			"a lock was taken and not given back: who has it wants it again, or is over",
	};

	return words[story];
}

const char *isolate_stage_words(enum isolate_stage stage)
{
	static const char *const words[] = {
		[ISOLATE_RUNNING] = "running the program",
		[ISOLATE_ALONE] = "running it on its own, to see whether it ends",
		[ISOLATE_HUNTING] = "looking for a schedule that fails",
		[ISOLATE_PROVOKING] = "forcing interleavings",
		[ISOLATE_SHORTENING] = "making the schedule short",
		[ISOLATE_FOLLOWING] = "following the failure",
		[ISOLATE_MOVING] = "moving accesses of other threads",
		[ISOLATE_SUPPRESSING] = "running again without what defined it",
	};

	return words[stage];
}

const char *isolate_why_words(enum isolate_why why)
{
	static const char *const words[] = {
		[WHY_NOT] = "the search ended early",
		[WHY_NO_MEMORY] = "what failed had not used any memory that could be followed",
		[WHY_CONSTANT] = "the address came from no memory: a function returned NULL, say",
		[WHY_NO_WRITE] = "what it used was written by nothing that can be left out",
		[WHY_USED_UP] = "the time or the number of steps was used up",
		[WHY_RUNS_ON] = "the suppressed program runs on and on or is stuck",
		[WHY_ELSEWHERE] =
			"without what led to the failure the program takes another way and fails there",
		[WHY_OTHER_ORDERS] = "other orders pass, and no moved access showed which order it is",
	};

	return words[why];
}

const char *isolate_root_words(enum isolate_verdict verdict, enum isolate_kind kind, bool written)
{
	if (verdict == ISOLATE_UNDEFINED)
		return "memory was read that had never been given a value";
	switch (kind) {
	case FAILED_FREE:
		return "a block was freed twice";
	case FAILED_STACK:
		return "the stack was used up: calls are nested too deep";
	case FAILED_DEAD:
		return "a block was used after it had been freed";
	case FAILED_BEYOND:
		return "memory beside a block was used: the value that led there is wrong, or the block is "
		       "too small";
	default:
		return written ? "a value was written that led to the failure"
			       : "a value was used that nobody had written since the program began";
	}
}

/* Was a block used, or freed again, that had been freed? */
static bool is_misuse(const struct isolation *isolation)
{
	const struct isolate_failure *failure =
		isolation->steps.n ? &isolation->steps.items[0].failure : NULL;

	return failure && !isolation->sure && (failure->kind == FAILED_DEAD || failure->kind == FAILED_FREE);
}

char *isolate_verdict_words(const struct isolation *isolation)
{
	bool sure = isolation->sure;

	switch (isolation->verdict) {
	case ISOLATE_ORDER:
		return memory_string(sure ? "The order of threads is the root cause, by experiment:"
					  : "The order of threads is probably the root cause; not all "
					    "experiments agree:");
	case ISOLATE_KEPT_LOCK:
		return memory_string(
			sure ? "Root cause: a lock was not given back:"
			     : "Most likely: a lock was not given back. Other orders of the threads "
			       "pass, so one of them may have led there:");
	case ISOLATE_ROOT:
		if (is_misuse(isolation))
			return memory_string("Most likely: when the block is not freed here, nothing fails "
					     "any more. Whether "
					     "it was freed too early or used too late is not shown:");
		return memory_string(sure ? "Root cause: without this write, and all that depends on it, "
					    "nothing fails any more:"
					  : "Most likely: without this write, and all that depends on it, "
					    "nothing fails any more. The failure hangs on its value; whether "
					    "the value is wrong or its use is not shown:");
	case ISOLATE_UNDEFINED:
		return memory_format("%s: memory was read that had never been given a value:",
				     sure ? "Root cause" : "Probably the root cause");
	default:
		return memory_format("Not certain, because %s. The best answer so far:",
				     isolate_why_words(isolation->why));
	}
}

const char *isolate_cause_words(enum isolate_verdict verdict, bool others_pass)
{
	switch (verdict) {
	case ISOLATE_ORDER:
		return "These accesses, in this order, led to the failure.";
	case ISOLATE_KEPT_LOCK:
		return "A lock is taken and not given back.";
	case ISOLATE_UNDEFINED:
		return "Memory is read that was never given a value.";
	default:
		return others_pass ? "What was done here led to the failure."
				   : "What was done here led to the failure, in every order of the threads.";
	}
}

const char *isolate_evidence_words(enum isolate_verdict verdict, bool sure)
{
	switch (verdict) {
	case ISOLATE_ORDER:
		return sure ? "It does not fail when one of them is moved, and fails when they are forced."
			    : "It does not fail when one of them is moved; not all experiments agree.";
	case ISOLATE_ROOT:
		return sure ? "Without this write, and all that depends on it, nothing fails any more."
			    : "Without this write, and all that depends on it, nothing fails any more; "
			      "whether the value is wrong or its use is not shown.";
	case ISOLATE_KEPT_LOCK:
		return "Who has the lock wants it again, or is over.";
	case ISOLATE_UNDEFINED:
		return "Nobody had written there when it was read.";
	default:
		return "It was followed back from the crash, value by value.";
	}
}

const char *isolate_failed_words(enum isolate_kind kind)
{
	static const char *const words[] = {
		[FAILED_NOT] = "it ended by a signal",
		[FAILED_ACCESS] = "an address that is no memory was used",
		[FAILED_JUMP] = "it jumped to an address that is no code",
		[FAILED_VALUE] = "the processor refused a value",
		[FAILED_BRANCH] = "a check was not passed",
		[FAILED_DEAD] = "a block was used after it had been freed",
		[FAILED_BEYOND] = "memory beside a block was used",
		[FAILED_FREE] = "a block was freed that is none any more",
		[FAILED_HANG] = "nothing went on from here: what is waited for does not come",
		[FAILED_WATCH] = "the value that is watched was read",
		[FAILED_STACK] = "the stack was used up: calls are nested too deep",
		[FAILED_CALL] = "a call through a pointer led to a function that ends the program",
		[FAILED_NO_BLOCK] = "a pointer was freed at which no block begins",
	};

	return words[kind];
}

const char *isolate_failed_name(enum isolate_kind kind)
{
	static const char *const names[] = {
		[FAILED_NOT] = "signal",
		[FAILED_ACCESS] = "access",
		[FAILED_JUMP] = "jump",
		[FAILED_VALUE] = "value",
		[FAILED_BRANCH] = "check",
		[FAILED_DEAD] = "use-after-free",
		[FAILED_BEYOND] = "overflow",
		[FAILED_FREE] = "double-free",
		[FAILED_HANG] = "hang",
		[FAILED_WATCH] = "watch",
		[FAILED_STACK] = "stack-overflow",
		[FAILED_CALL] = "call",
		[FAILED_NO_BLOCK] = "invalid-free",
	};

	return names[kind];
}

const char *isolate_definer_words(enum isolate_definer definer)
{
	static const char *const words[] = {
		[DEFINED_NOT] = "not written by anybody since the program began",
		[DEFINED_STORE] = "written",
		[DEFINED_KERNEL] = "written by a system call",
		[DEFINED_ALLOCATED] = "never written since it was allocated",
		[DEFINED_FREED] = "freed",
		[DEFINED_FRAME] = "never written since its function was entered",
		[DEFINED_CLEARED] = "not written since it was allocated as zeros",
		[DEFINED_LEFT] = "a local of a function that had returned",
		[DEFINED_LOST] = "written too long ago to know where",
	};

	return words[definer];
}

const char *isolate_definer_name(enum isolate_definer definer)
{
	static const char *const names[] = {
		[DEFINED_NOT] = "nobody",         [DEFINED_STORE] = "store",
		[DEFINED_KERNEL] = "system-call", [DEFINED_ALLOCATED] = "allocation",
		[DEFINED_FREED] = "free",         [DEFINED_FRAME] = "frame",
		[DEFINED_CLEARED] = "zeros",      [DEFINED_LEFT] = "left-frame",
		[DEFINED_LOST] = "lost",
	};

	return names[definer];
}

const char *isolate_agreement_name(enum crash_agreement agreement)
{
	static const char *const names[] = {
		[CRASH_NOT_FOLLOWED] = "not-followed",
		[CRASH_NO_TIME] = "no-time",
		[CRASH_FAILED] = "failed",
		[CRASH_NOT_MET] = "crash-not-met",
		[CRASH_NO_ANSWER] = "no-answer",
		[CRASH_SAME] = "same",
		[CRASH_PARTLY] = "partly",
		[CRASH_ELSEWHERE] = "elsewhere",
		[CRASH_ALONE] = "alone",
	};

	return names[agreement];
}

char *isolate_agreement_words(const struct crash_trail *trail)
{
	static const char by[] = "Isolate, by suppressed re-execution from the crash,";
	_cleanup_free_ char *accesses = trail->finding ? sentence_accesses(&trail->finding->accesses) : NULL;
	const char *doubt = trail->sure ? "" : ", but is not sure";

	if (trail->trail_only && trail->agreement >= CRASH_SAME)
		return memory_format(
			"The values that the crash hangs on, followed back in one execution, lead to "
			"%s.",
			trail->agreement == CRASH_SAME     ? "the same accesses"
			: trail->agreement == CRASH_PARTLY ? "some of the same accesses"
							   : "none of these accesses");
	switch (trail->agreement) {
	case CRASH_SAME:
		return memory_format("%s comes to the same accesses%s.", by, doubt);
	case CRASH_PARTLY:
		return memory_format("%s comes in part to the same accesses%s: %s.", by, doubt, accesses);
	case CRASH_ELSEWHERE:
		return memory_format("%s comes to another place%s: %s.", by, doubt, accesses);
	case CRASH_NO_ANSWER:
		return memory_format("%s comes to nothing that could be named.", by);
	case CRASH_NOT_MET:
		return memory_format("%s could not be asked: without hooks the crash did not come again in "
				     "the time it had.",
				     by);
	case CRASH_NO_TIME:
		return memory_format("%s was not asked: the time was used up (--time gives it more).", by);
	case CRASH_FAILED:
		return memory_format("%s could not be asked: %s.", by, trail->why);
	default:
		return NULL;
	}
}
