/* Candidates of a scan as an opinion among others: what the program's text makes likely
 * is tried by the same experiments as what runs have shown. They say nothing by
 * themselves, so they come with the lowest score.
 */
#include "diagnose/diagnosis.h"

#include <string.h>

static void copy_access(const struct finding_access *from, struct finding *into)
{
	const struct site site = { .kind = from->kind,
				   .file = from->file,
				   .function = from->function,
				   .variable = from->variable,
				   .through = from->through,
				   .line = from->line,
				   .column = from->column };
	struct finding_access *access = finding_add_access(&into->accesses, FINDING_NO_SITE, &site);

	access->thread = from->thread;
	access->kind = from->kind;
	access->role = from->role;
	finding_add_variable(into, from->variable);
}

static struct error *ask_candidates(struct diagnosis *diagnosis, struct opinion *opinion)
{
	const struct findings *candidates = diagnosis->options->candidates;

	for (size_t i = 0; candidates && i < candidates->n; i++) {
		struct finding *finding = VEC_PUSH(&opinion->findings);

		finding->rank = (unsigned)i + 1;
		finding->class = candidates->items[i].class;
		finding->method = memory_string(opinion->method);
		finding->run = diagnosis->tally.failure.number;
		finding->runs.passed = diagnosis->tally.passed;
		finding->runs.failed = diagnosis->tally.failed;
		diagnosis_tell(finding, TOLD_CANDIDATE, 0, 0);
		for (size_t a = 0; a < candidates->items[i].accesses.n; a++)
			copy_access(&candidates->items[i].accesses.items[a], finding);
	}
	return NULL;
}

const struct method method_candidates = {
	.head = { .method = "scan" },
	.ask = ask_candidates,
};
