/* From candidates to findings that experiments can try, and back.
 */
#include "cmds/candidate_findings.h"

#include <string.h>

#define MIDDLES_MOST 3 /* accesses between that are tried for one candidate */

static enum finding_class class_of(enum candidate_kind kind)
{
	switch (kind) {
	case CANDIDATE_ATOMICITY:
		return FINDING_ATOMICITY;
	case CANDIDATE_MULTI_ATOMICITY:
		return FINDING_MULTI_ATOMICITY;
	case CANDIDATE_DEADLOCK:
		return FINDING_DEADLOCK;
	default:
		return FINDING_ORDER;
	}
}

static void add(const struct candidate_access *from, struct finding *into)
{
	const struct site site = { .kind = from->kind,
				   .file = from->file,
				   .function = from->function,
				   .variable = from->variable,
				   .through = from->through,
				   .line = from->line };
	struct finding_access *access = finding_add_access(&into->accesses, FINDING_NO_SITE, &site);

	access->thread = from->thread;
}

static struct finding *start(const struct candidate *candidate, struct findings *out)
{
	struct finding *finding = VEC_PUSH(out);

	finding->class = class_of(candidate->kind);
	return finding;
}

void candidate_findings(const struct candidate *candidate, struct findings *out)
{
	bool pair = candidate->kind == CANDIDATE_RACE || candidate->kind == CANDIDATE_ORDER;
	struct finding *finding = start(candidate, out);

	for (size_t i = 0; i < candidate->accesses.n; i++)
		add(&candidate->accesses.items[i], finding);
	if (pair) {
		finding = start(candidate, out);
		add(&candidate->accesses.items[1], finding);
		add(&candidate->accesses.items[0], finding);
		return;
	}
	for (size_t i = 0; candidate->accesses.n == 3 && i < candidate->others.n && i < MIDDLES_MOST; i++) {
		finding = start(candidate, out);
		add(&candidate->accesses.items[0], finding);
		add(&candidate->others.items[i], finding);
		add(&candidate->accesses.items[2], finding);
	}
}

static bool same_place(const struct candidate_access *a, const struct finding_access *b)
{
	return a->line == b->line && a->line && !strcmp(a->file, b->file);
}

/* Is one of the finding's accesses, in this thread or (`other`) in another one, at the candidate's? */
static bool is_done_by(const struct candidate_access *access, const struct finding *finding, uint32_t thread,
		       bool other)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if ((finding->accesses.items[i].thread != thread) == other &&
		    same_place(access, &finding->accesses.items[i]))
			return true;
	return false;
}

static bool comes_between(const struct candidate *candidate, const struct finding *finding, uint32_t thread)
{
	for (size_t i = 0; i < candidate->others.n; i++)
		if (is_done_by(&candidate->others.items[i], finding, thread, true))
			return true;
	return false;
}

/* With the candidate's first thread as this one: all that it does is there, and something that the other does. */
static bool fits(const struct candidate *candidate, const struct finding *finding, uint32_t thread)
{
	bool between = comes_between(candidate, finding, thread), own = true;

	for (size_t i = 0; i < candidate->accesses.n; i++) {
		const struct candidate_access *access = &candidate->accesses.items[i];

		if (access->thread == candidate->accesses.items[0].thread)
			own &= is_done_by(access, finding, thread, false);
		else
			between |= is_done_by(access, finding, thread, true);
	}
	return own && between;
}

bool candidate_is_part_of(const struct candidate *candidate, const struct finding *finding)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (fits(candidate, finding, finding->accesses.items[i].thread))
			return true;
	return false;
}
