/* From facts to a label: the label given by the user, else how the program
 * ended, then what it printed, then what the check command says. Where output or
 * check decide, the exit status does not.
 */
#include "loom/verdict.h"

#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/memory.h"

#define NAME_LENGTH 200 /* of file and command names in a reason */

void verdict_outcome(const struct ending *ending, enum outcome *outcome, int *code)
{
	static const enum outcome controlled[] = {
		[END_DEADLOCK] = OUTCOME_DEADLOCK, [END_LOST_WAKEUP] = OUTCOME_LOST_WAKEUP,
		[END_LIVELOCK] = OUTCOME_LIVELOCK, [END_DIVERGED] = OUTCOME_DIVERGED,
		[END_SLOW] = OUTCOME_SLOW,         [END_MEMORY] = OUTCOME_MEMORY,
	};

	*code = 0;
	if (ending->end > END_NONE && ending->end <= END_LAST) {
		*outcome = controlled[ending->end];
		*code = ending->end == END_MEMORY ? (int)ending->fault : 0;
	} else if (ending->timed_out) {
		*outcome = ending->controlled ? OUTCOME_SLOW : OUTCOME_TIMEOUT;
	} else if (WIFSIGNALED(ending->status)) {
		*outcome = OUTCOME_SIGNAL;
		*code = WTERMSIG(ending->status);
	} else {
		*outcome = OUTCOME_EXIT;
		*code = WEXITSTATUS(ending->status);
	}
}

bool verdict_open(const struct launch_options *options, const struct ending *ending)
{
	bool ended = !ending->timed_out && ending->end == END_NONE && WIFEXITED(ending->status);
	bool asked = options->check || options->expect;

	return !options->force && ended && (asked || WEXITSTATUS(ending->status) == 0);
}

static char *how_ended(const struct ending *ending, double timeout_s)
{
	enum outcome outcome;
	int code;

	verdict_outcome(ending, &outcome, &code);
	if (outcome == OUTCOME_TIMEOUT)
		return memory_format("still running after %g s (hung)", timeout_s);
	if (outcome == OUTCOME_SLOW)
		return memory_string("too slow under control: inconclusive");
	if (outcome == OUTCOME_EXIT)
		return memory_format("exit status %d", code);
	if (outcome == OUTCOME_DEADLOCK)
		return memory_string("deadlock: no thread can go on");
	if (outcome == OUTCOME_LOST_WAKEUP)
		return memory_string("lost wake-up: a thread waits for a signal that came before");
	if (outcome == OUTCOME_LIVELOCK)
		return memory_string("livelock: it runs on and on without an end");
	if (outcome == OUTCOME_DIVERGED)
		return memory_string("it could not follow its schedule");
	if (outcome == OUTCOME_MEMORY)
		return memory_string(code == MEMORY_USE_AFTER_FREE ? "use of a heap block after it was freed"
				     : code == MEMORY_DOUBLE_FREE  ? "a heap block is freed twice"
								   : "access beyond a heap block");
	const char *name = sigabbrev_np(code);

	return name ? memory_format("killed by SIG%s", name) : memory_format("killed by signal %d", code);
}

static char *what_check_says(const char *command, const struct ending *check, double timeout_s)
{
	if (check->timed_out)
		return memory_format("%.*s was still running after %g s", NAME_LENGTH, command, timeout_s);
	if (WIFEXITED(check->status))
		return memory_format("%.*s exited with %d", NAME_LENGTH, command, WEXITSTATUS(check->status));
	_cleanup_free_ char *how = how_ended(check, timeout_s);

	return memory_format("%.*s was %s", NAME_LENGTH, command, how);
}

/* Nothing was seen to be wrong. */
static bool is_slow(const struct ending *ending)
{
	enum outcome outcome;
	int code;

	verdict_outcome(ending, &outcome, &code);
	return outcome == OUTCOME_SLOW;
}

enum label verdict(const struct launch_options *options, const struct ending *ending, uint64_t differs,
		   const struct ending *check, char **reason)
{
	if (options->force) {
		_cleanup_free_ char *how = how_ended(ending, options->timeout_s);

		*reason = memory_format("%s (label given)", how);
		return options->force;
	}
	if (verdict_open(options, ending) && differs) {
		*reason = memory_format("output differs from %.*s at line %llu", NAME_LENGTH, options->expect,
					(unsigned long long)differs);
		return LABEL_FAIL;
	}
	if (verdict_open(options, ending) && check && check->status != 0) {
		*reason = what_check_says(options->check, check, options->timeout_s);
		return LABEL_FAIL;
	}
	*reason = how_ended(ending, options->timeout_s);
	return verdict_open(options, ending) || is_slow(ending) ? LABEL_PASS : LABEL_FAIL;
}
