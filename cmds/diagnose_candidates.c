/* Compares the cause with the candidates that a scan has left in the store.
 */
#include "cmds/diagnose_candidates.h"

#include <string.h>

#include "cmds/candidate_findings.h"
#include "cmds/scan_kept.h"
#include "report/candidate.h"

#define ELSEWHERE_MOST 3

/* Does it name a line of the cause? */
static bool touches(const struct candidate *candidate, const struct finding *cause)
{
	for (size_t i = 0; i < candidate->accesses.n; i++)
		for (size_t j = 0; j < cause->accesses.n; j++)
			if (candidate->accesses.items[i].line == cause->accesses.items[j].line &&
			    !strcmp(candidate->accesses.items[i].file, cause->accesses.items[j].file))
				return true;
	return false;
}

/* The same kind of mistake: as many accesses, which read and write alike. */
static bool is_alike(const struct candidate *a, const struct candidate *b)
{
	if (a->kind != b->kind || a->accesses.n != b->accesses.n)
		return false;
	for (size_t i = 0; i < a->accesses.n; i++)
		if (a->accesses.items[i].kind != b->accesses.items[i].kind)
			return false;
	return true;
}

struct error *diagnose_tell_candidates(const struct diagnosis *diagnosis, FILE *out)
{
	_cleanup_(scan_free) struct scan scan = { 0 };
	const struct candidate *found = NULL;
	unsigned shown = 0;

	if (!diagnosis->causes.n || diagnosis->causes.items[0].verdict < VERDICT_LIKELY)
		return NULL;
	const struct finding *cause = diagnosis->causes.items[0].finding;

	TRY(scan_kept(diagnosis->options->store, diagnosis->options->build, &scan));
	for (size_t i = 0; i < scan.candidates.n && !found; i++)
		if (candidate_is_part_of(&scan.candidates.items[i], cause))
			found = &scan.candidates.items[i];
	if (!found)
		return NULL;
	candidate_print_found(found, out);
	for (size_t i = 0; i < scan.candidates.n && shown < ELSEWHERE_MOST; i++) {
		const struct candidate *candidate = &scan.candidates.items[i];

		if (!is_alike(candidate, found) || touches(candidate, cause))
			continue;
		candidate_print_alike(candidate, !shown++, out);
	}
	return NULL;
}
