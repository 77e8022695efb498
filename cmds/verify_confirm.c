/* A failure beside a candidate is no proof that the candidate is why: a thread that is
 * held brings out other mistakes near by. So the program is made to fail under control,
 * and what the candidates claim is forbidden and forced there, as diagnose does with
 * everything else. One diagnosis serves all candidates.
 */
#include <stdlib.h>
#include <string.h>

#include "cmds/candidate_findings.h"
#include "cmds/cmds.h"
#include "cmds/verify.h"
#include "report/text.h"

#define CANDIDATES_MOST 24 /* that are tried by experiment */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "stock.c:31, stock.c:58", each line once. */
static char *lines_of(const struct finding *finding)
{
	char *all = memory_string("");

	for (size_t i = 0; i < finding->accesses.n; i++) {
		const struct finding_access *access = &finding->accesses.items[i];
		_cleanup_free_ char *place = memory_format("%s:%u", file_name(access->file), access->line);

		if (strstr(all, place))
			continue;
		char *more = memory_format("%s%s%s", all, *all ? ", " : "", place);

		free(all);
		all = more;
	}
	return all;
}

/* Counts of the experiment, a clause. */
static char *counts_of(const struct cause *cause)
{
	const struct trials_counts *near = &cause->proof.near, *any = &cause->proof.any;

	if (cause->seen)
		return memory_string("the failing run shows it");
	return memory_format("forbidden, %llu of %llu schedules fail; forced, %llu of %llu",
			     (unsigned long long)(near->failed + any->failed),
			     (unsigned long long)(near->runs + any->runs),
			     (unsigned long long)(cause->proof.forced.failed + cause->proof.forced.other),
			     (unsigned long long)cause->proof.forced.runs);
}

static bool is_good(const struct cause *cause)
{
	return cause->verdict >= VERDICT_LIKELY && !cause->consequence;
}

/* The first good cause that the candidate is part of; NULL for none. */
static const struct cause *cause_of(const struct diagnosis *diagnosis, const struct candidate *candidate)
{
	for (size_t i = 0; i < diagnosis->causes.n; i++)
		if (is_good(&diagnosis->causes.items[i]) &&
		    candidate_is_part_of(candidate, diagnosis->causes.items[i].finding))
			return &diagnosis->causes.items[i];
	return NULL;
}

static void blame(const struct diagnosis *diagnosis, const struct cause *cause, struct verified *verified)
{
	free(verified->why);
	verified->confirmed = CONFIRM_CAUSE;
	verified->why = counts_of(cause);
	verified->run = diagnosis->shortest ? diagnosis->shortest : diagnosis->tally.failure.number;
}

static void settle(const struct diagnosis *diagnosis, struct verified *verified)
{
	const struct cause *own = cause_of(diagnosis, verified->candidate), *first = NULL;

	if (own) {
		blame(diagnosis, own, verified);
		return;
	}
	verified->confirmed = CONFIRM_UNKNOWN;
	for (size_t i = 0; i < diagnosis->causes.n && !first; i++)
		first = is_good(&diagnosis->causes.items[i]) ? &diagnosis->causes.items[i] : NULL;
	if (first) {
		_cleanup_free_ char *lines = lines_of(first->finding), *counts = counts_of(first);

		verified->confirmed = CONFIRM_OTHER;
		verified->why = memory_format("the cause is at %s: %s", lines, counts);
		return;
	}
	verified->why = memory_string(
		diagnosis->tally.found
			? "no experiment could tie the failure to these lines or to others; unsnarl diagnose "
			  "may tell more with more time"
			: "no schedule was found that fails under control, so nothing could be tried");
}

static struct verified *in_list(struct verified_list *list, const struct candidate *candidate)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].candidate == candidate)
			return &list->items[i];
	struct verified *made = VEC_PUSH(list);

	made->candidate = candidate;
	return made;
}

/* The failure came beside one candidate; the best of all candidates that are part of its cause is the answer. */
static void blame_another(const struct diagnosis *diagnosis, const struct scan *scan, unsigned failed,
			  struct verified_list *list)
{
	for (size_t i = 0; i < scan->candidates.n; i++) {
		const struct cause *cause = cause_of(diagnosis, &scan->candidates.items[i]);

		if (!cause)
			continue;
		struct verified *verified = in_list(list, &scan->candidates.items[i]);

		verified->beside = failed;
		blame(diagnosis, cause, verified);
		return;
	}
}

struct error *verify_confirm(const struct diagnosis_options *options, const struct scan *scan, size_t failed,
			     struct verified_list *list)
{
	_cleanup_(diagnosis_free) struct diagnosis diagnosis = { 0 };
	_cleanup_(findings_free) struct findings findings = { 0 };
	struct diagnosis_options with = *options;

	for (size_t i = 0; i < list->n && i < CANDIDATES_MOST; i++)
		candidate_findings(list->items[i].candidate, &findings);
	with.candidates = &findings;
	TRY(diagnose(&with, &diagnosis));
	for (size_t i = 0; i < list->n; i++)
		settle(&diagnosis, &list->items[i]);
	if (list->items[failed].confirmed == CONFIRM_OTHER)
		blame_another(&diagnosis, scan, list->items[failed].candidate->rank, list);
	return NULL;
}
