/* One sentence for each ground. Counts of one are told as one run, not as a list of runs. */
#include "report/locate_words.h"

static char *rare(const struct locon_reason *reason)
{
	size_t n = reason->passed;

	if (reason->shown)
		return memory_format("Only %zu of %zu passing runs show%s it.", reason->shown, n,
				     reason->shown == 1 ? "s" : "");
	return memory_format("%s %zu passing run%s shows it%s.", n == 1 ? "Not the" : "None of", n,
			     n == 1 ? "" : "s",
			     reason->ground == LOCON_CONSEQUENCE
				     ? ", but neither do they run this code: it may be a consequence"
				     : "");
}

static char *reversed(const struct locon_reason *reason)
{
	size_t n = reason->passed;

	return memory_format(
		"%s %zu passing run%s it the other way round; in the failed run that is missing.",
		n == 1 ? "The" : "All", n, n == 1 ? " has" : "s have");
}

static char *parted(const struct locon_reason *reason)
{
	bool one = reason->shown == 1;

	return memory_format("In %s %zu passing run%s that %s the one, the other came with it; "
			     "in the failed run it is missing.",
			     one ? "the" : "all", reason->shown, one ? "" : "s", one ? "has" : "have");
}

static char *together(const struct locon_reason *reason)
{
	if (reason->shown)
		return memory_format("Passing runs show each part, but only %zu of %zu have them together.",
				     reason->shown, reason->passed);
	return memory_format("Passing runs show each part; together, in about %.0f of %zu, was "
			     "to be expected, and none has it%s.",
			     reason->expected, reason->passed,
			     reason->level == LOCON_THREAD ? " between the same two threads"
			     : reason->level == LOCON_LOOP ? " in the same round of the loop"
							   : "");
}

static char *switches(const struct locon_reason *reason)
{
	return memory_format("In the shortest failing run the switch of threads was moved step by step: %s. "
			     "Passing runs show the same pairs, so comparing them tells nothing.",
			     reason->ground == LOCON_SWITCH_EXACT
				     ? "moved over one of these accesses, the failure is gone"
				     : "it fails as long as the switch stays between these accesses");
}

static char *words_of(const struct locon_reason *reason)
{
	switch (reason->ground) {
	case LOCON_RARE:
	case LOCON_CONSEQUENCE:
		return rare(reason);
	case LOCON_REVERSED:
		return reversed(reason);
	case LOCON_PARTED:
		return parted(reason);
	case LOCON_STALE:
		return memory_format(
			"In %.0f passing runs the second value is younger than the first; here it is older.",
			reason->expected);
	case LOCON_TOGETHER:
		return together(reason);
	case LOCON_SWITCH:
	case LOCON_SWITCH_EXACT:
		return switches(reason);
	}
	return NULL;
}

void locate_words(struct locon_answer *answer)
{
	for (size_t i = 0; i < answer->findings.n; i++)
		answer->findings.items[i].evidence = words_of(&answer->reasons.items[i]);
}

char *locate_falcon_words(uint32_t shown, size_t passed, double score)
{
	return memory_format("%u of %zu passing runs show it too: score %.3f.", shown, passed, score);
}
