/* What passing runs do instead of what a finding tells, in a sentence, from the facts of the finding. */
#include "report/passing_words.h"

#include <inttypes.h>

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *access_noun(bool writes)
{
	return writes ? "write" : "read";
}

static char *of_reversed(const struct finding_passing *passing)
{
	if (!passing->before)
		return memory_string("In passing runs the two do not meet in this order.");
	return memory_format("In %s%" PRIu64 " passing run%s the %s comes first, then the %s.",
			     passing->runs == 1                 ? "the "
			     : passing->before == passing->runs ? "all "
								: "",
			     passing->before, plural(passing->before), access_noun(passing->one_writes),
			     access_noun(passing->other_writes));
}

static char *of_apart(const struct finding_passing *passing)
{
	const char *noun = access_noun(passing->one_writes);

	if (passing->before && passing->after)
		return memory_format("In passing runs T%u's %s comes before both accesses of T%u (%" PRIu64
				     " run%s) or after both (%" PRIu64 " run%s).",
				     passing->one, noun, passing->other, passing->before,
				     plural(passing->before), passing->after, plural(passing->after));
	return memory_format("In passing runs T%u's %s comes %s both accesses of T%u.", passing->one, noun,
			     passing->before  ? "before"
			     : passing->after ? "after"
					      : "before or after",
			     passing->other);
}

char *passing_words(const struct finding *finding)
{
	const struct finding_passing *passing = &finding->passing;

	switch (passing->kind) {
	case PASSING_REVERSED:
		return of_reversed(passing);
	case PASSING_APART:
		return of_apart(passing);
	case PASSING_IN_TURN:
		return memory_format("In passing runs T%u is done with all of these variables before T%u "
				     "begins, or the other way round.",
				     passing->one, passing->other);
	case PASSING_OTHER_MOMENT:
		return memory_string("usually these accesses meet, or meet at another moment");
	case PASSING_UNKNOWN:
		break;
	}
	return NULL;
}
