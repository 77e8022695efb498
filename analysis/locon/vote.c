/* Which of several failed runs to explain. One is enough for LOCON, but where only a
 * value decides whether an interleaving does harm, its pairs may be in runs that
 * passed, and another run that failed in the same way may show the fault in a form
 * that no passing run has. Each is explained by itself; the explanation that most of
 * them come to is taken, if enough do: a fault that many runs have differs from chance
 * by coming back.
 */
#include "analysis/locon/vote.h"

#include <stdlib.h>
#include <time.h>

#include "analysis/locon/ask.h"
#include "base/hash.h"

#define MOST_VOTERS 12u /* runs */
#define MOST_SECONDS 3.0

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The same accesses, whoever's threads they are and in whatever order two threads did them. */
static uint64_t signature(const struct finding *finding)
{
	uint64_t all = 0;

	for (size_t i = 0; i < finding->accesses.n; i++) {
		const struct finding_access *access = &finding->accesses.items[i];
		uint32_t where[] = { access->line, (uint32_t)access->kind };
		uint64_t one = hash_bytes(hash_string(HASH_START, access->file), where, sizeof where);
		bool again = false;

		for (size_t j = 0; j < i && !again; j++)
			again = finding->accesses.items[j].line == access->line &&
				finding->accesses.items[j].kind == access->kind;
		all += again ? 0 : one;
	}
	return all;
}

/* 0 when the run has nothing to say. */
static struct error *ask_one(struct store *store, uint64_t run, uint64_t *out)
{
	_cleanup_(locon_data_free) struct locon_data data = { 0 };
	_cleanup_(locon_answer_free) struct locon_answer answer = { 0 };

	*out = 0;
	TRY(locon_gather(store, run, &data));
	if (!data.input.npassed)
		return NULL;
	const struct locon_request request = { .level = -1, .top = 1, .run = run, .sites = data.sites };

	TRY(locon_ask(store, &data, &request, &answer));
	if (answer.findings.n)
		*out = signature(&answer.findings.items[0]);
	return NULL;
}

/* The run itself, then the newest others that ended the same way. */
static struct error *find_voters(struct store *store, uint64_t campaign, uint64_t run, uint64_t *voters,
				 size_t *n)
{
	struct run *runs = NULL;
	size_t nruns = 0;
	const struct run *self = NULL;

	TRY(store_runs(store, campaign, &runs, &nruns));
	for (size_t i = 0; i < nruns; i++)
		if (runs[i].number == run)
			self = &runs[i];
	voters[0] = run;
	*n = 1;
	for (size_t i = nruns; self && i-- > 0 && *n < MOST_VOTERS;)
		if (&runs[i] != self && runs[i].label == LABEL_FAIL && runs[i].outcome == self->outcome &&
		    runs[i].code == self->code && runs[i].observations.npairs)
			voters[(*n)++] = runs[i].number;
	for (size_t i = 0; i < nruns; i++)
		run_free(&runs[i]);
	free(runs);
	return NULL;
}

/* What one run of several has, or two of many, is in runs that did not fail too, if one looks at as many. */
static size_t quorum(size_t asked)
{
	return asked < 2 ? 1 : asked < 6 ? 2 : 3;
}

size_t locon_count(const uint64_t *said, size_t asked, size_t *alike)
{
	size_t best = 0;

	*alike = 0;
	for (size_t i = 0; i < asked; i++) {
		size_t same = 0;

		for (size_t j = 0; said[i] && j < asked; j++)
			same += said[j] == said[i];
		if (same > *alike) {
			*alike = same;
			best = i;
		}
	}
	if (*alike >= quorum(asked))
		return best;
	*alike = 0;
	return 0;
}

struct error *locon_vote(struct store *store, uint64_t campaign, uint64_t run, struct locon_vote *out)
{
	uint64_t voters[MOST_VOTERS], said[MOST_VOTERS] = { 0 };
	double end = now() + MOST_SECONDS;
	size_t n;

	*out = (struct locon_vote){ 0 };
	TRY(find_voters(store, campaign, run, voters, &n));
	for (size_t i = 0; i < n && (i == 0 || now() < end); i++) {
		TRY(ask_one(store, voters[i], &said[i]));
		out->asked++;
	}
	out->run = voters[locon_count(said, out->asked, &out->alike)];
	return NULL;
}
