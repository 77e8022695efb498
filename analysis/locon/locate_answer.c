/* The order of procedures (LOCON, section 5): I, II, then III from the coarsest
 * level to the finest, and what each answer is worth.
 */
#include "analysis/locon/locate_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pair in one of fifty passing runs is nearly as telling as one in none: two
 * accesses at the same instant may be seen in the wrong order. */
#define TOLERANCE 50u
#define MOST_FINDINGS 200u
/* When every other passing run brings pairs of its own, those of the failed run tell nothing. */
#define MOST_NOVELTY 0.5
#define LEAST_FOR_NOVELTY 10u

const char *locon_procedure_name(unsigned procedure)
{
	static const char *const names[] = { "", "I", "II", "III", "switches" };

	return procedure <= LOCON_SWITCHES ? names[procedure] : "";
}

const char *locon_level_name(enum locon_level level)
{
	static const char *const names[] = { "site", "thread", "loop", "moment" };

	return level <= LOCON_MOMENT ? names[level] : "";
}

/* The same accesses in the same order, whoever's threads they are. */
static bool same(const struct locon *locon, const struct explain_pattern *a, const struct explain_pattern *b)
{
	if (a->nevents != b->nevents)
		return false;
	for (size_t i = 0; i < a->nevents; i++)
		if (locon_place(locon, a->events[i].site) != locon_place(locon, b->events[i].site) ||
		    a->events[i].write != b->events[i].write)
			return false;
	return true;
}

struct patterns {
	struct explain_pattern *items;
	size_t n, room; /* as VEC */
};

static bool is_new(const struct locon *locon, const struct patterns *known,
		   const struct explain_pattern *pattern)
{
	for (size_t i = 0; i < known->n; i++)
		if (same(locon, &known->items[i], pattern))
			return false;
	return true;
}

static struct finding *add_finding(const struct locon *locon, const struct locon_request *request,
				   struct locon_answer *answer, const struct explain_pattern *pattern,
				   double score)
{
	struct finding *finding = VEC_PUSH(&answer->findings);

	finding->rank = (unsigned)answer->findings.n;
	finding->class = pattern->class;
	finding->scenario = pattern->scenario;
	finding->score = score;
	finding->run = request->run;
	finding->runs.passed = locon->input->npassed;
	finding->runs.failed = 1;
	for (size_t i = 0; i < pattern->nevents; i++) {
		const struct explain_event *event = &pattern->events[i];
		const struct site *site =
			event->site < locon->input->nsites ? request->sites[event->site] : NULL;
		struct finding_access *access = finding_add_access(&finding->accesses, event->site, site);

		access->thread = event->thread;
		access->order = event->order;
		access->missing = event->missing;
		access->kind = event->write ? SITE_WRITE : SITE_READ;
		finding_add_variable(finding, access->variable);
	}
	locon_passing_order(locon, request, pattern, finding);
	finding_settle(finding);
	return finding;
}

static bool enough(const struct locon_request *request, const struct locon_answer *answer)
{
	return answer->findings.n >= (request->top ? request->top : MOST_FINDINGS);
}

/* The share of further passing runs that, as far as those at hand tell, would lack it. */
static double surprise(size_t shown, size_t runs)
{
	return 1 - ((double)shown + 1) / ((double)runs + 2);
}

/* Does Procedure II know better: the read that saw a strange write lacks the write
 * that it always saw in passing runs, because that never came? */
static bool knows_better(const struct locon *locon, const struct locon_missings *missing,
			 const struct locon_key *key)
{
	for (size_t i = 0; i < missing->n && key->kind == PAIR_WRITE_READ; i++)
		if (missing->items[i].cut_off && missing->items[i].partner == LOCON_NONE &&
		    locon->keys.items[missing->items[i].key].tail == key->tail)
			return true;
	return false;
}

/* The share of passing runs that have a pair of their own, which no other run shows: as
 * many would be suspects by Procedure I, had they failed. */
static double novelty(const struct locon *locon)
{
	const struct locon_input *input = locon->input;
	roaring_bitmap_t *single = roaring_bitmap_create();
	size_t runs = 0;

	for (size_t i = 0; i < input->npairs; i++)
		if (locon->keys.items[locon->key_of[i]].passed == 1)
			roaring_bitmap_add(single, (uint32_t)i);
	for (size_t r = 0; r < input->npassed; r++)
		runs += roaring_bitmap_intersect(input->passed[r], single);
	roaring_bitmap_free(single);
	return (double)runs / (double)input->npassed;
}

static void answer_first(const struct locon *locon, const struct locon_request *request, uint32_t tolerance,
			 struct locon_answer *answer)
{
	struct locon_suspects list;
	struct locon_missings missing = { 0 };
	struct patterns known = { 0 };
	double noise = locon->input->npassed < LEAST_FOR_NOVELTY ? 0 : novelty(locon);

	if (noise > MOST_NOVELTY && request->procedure != LOCON_I)
		return;
	locon_first(locon, tolerance, false, &list);
	if (request->procedure != LOCON_I)
		locon_second(locon, &missing);
	for (size_t i = 0; i < list.n && !enough(request, answer); i++) {
		const struct locon_suspect *suspect = &list.items[i];
		const struct locon_key *key = &locon->keys.items[suspect->key];
		struct explain_pattern pattern = { 0 };

		/* Alone, a consequence explains nothing. */
		if (suspect->consequence && request->procedure != LOCON_I)
			continue;
		if (knows_better(locon, &missing, key))
			continue;
		answer->suspects++;
		explain_suspect(locon, suspect->at, &pattern);
		if (!is_new(locon, &known, &pattern))
			continue;
		*VEC_PUSH(&known) = pattern;
		double score = surprise(key->passed, locon->input->npassed) * (1 - noise) *
			       (suspect->consequence ? 0.3 : 1);
		struct finding *finding = add_finding(locon, request, answer, &pattern, score);

		finding->method = memory_string("locon I");
		*VEC_PUSH(&answer->reasons) = (struct locon_reason){
			.ground = suspect->consequence && !key->passed ? LOCON_CONSEQUENCE : LOCON_RARE,
			.shown = key->passed,
			.passed = locon->input->npassed,
		};
	}
	VEC_FREE(&known);
	VEC_FREE(&missing);
	VEC_FREE(&list);
	if (answer->findings.n)
		answer->procedure = LOCON_I;
}

static void answer_second(const struct locon *locon, const struct locon_request *request,
			  struct locon_answer *answer)
{
	struct locon_missings list;

	locon_second(locon, &list);
	for (size_t i = 0; i < list.n && !enough(request, answer); i++) {
		const struct locon_missing *missing = &list.items[i];
		size_t shown = locon->keys.items[missing->key].passed, n = locon->input->npassed;
		struct explain_pattern pattern;

		/* Both ran, and yet not as a pair: seldom more than a sign of an early end. */
		if (!missing->cut_off && locon->input->ran && request->procedure != LOCON_II)
			continue;
		answer->suspects++;
		explain_missing(locon, missing, &pattern);
		double score = surprise(n - shown, n) * (missing->cut_off ? 1 : 0.3) *
			       (missing->partner == LOCON_NONE ? 1 : 0.9);
		struct finding *finding = add_finding(locon, request, answer, &pattern, score);

		finding->method = memory_string("locon II");
		*VEC_PUSH(&answer->reasons) = (struct locon_reason){
			.ground = missing->partner == LOCON_NONE ? LOCON_REVERSED : LOCON_PARTED,
			.shown = shown,
			.passed = n,
		};
	}
	VEC_FREE(&list);
	if (answer->findings.n)
		answer->procedure = LOCON_II;
}

static void answer_third(const struct locon *locon, const struct locon_request *request,
			 enum locon_level level, struct locon_answer *answer)
{
	struct locon_couples list;

	if (level >= LOCON_LOOP && !locon->input->details) {
		answer->needs_details = true;
		return;
	}
	locon_third(locon, level, &list);
	_cleanup_free_ bool *taken = memory_alloc(list.n + 1);

	answer->cut |= list.cut;
	answer->suspects = list.n;
	for (size_t i = 0; i < list.n && !enough(request, answer); i++) {
		struct explain_pattern pattern;

		if (taken[i])
			continue;
		explain_couples(locon, &list, i, taken, &pattern);
		struct finding *finding =
			add_finding(locon, request, answer, &pattern,
				    (1 - exp(-list.items[i].expected)) / (1 + list.items[i].passed));

		finding->method = memory_string("locon III");
		*VEC_PUSH(&answer->reasons) = (struct locon_reason){
			.ground = list.items[i].stale ? LOCON_STALE : LOCON_TOGETHER,
			.shown = list.items[i].passed,
			.passed = locon->input->npassed,
			.expected = list.items[i].expected,
			.level = level,
		};
	}
	VEC_FREE(&list);
	if (answer->findings.n) {
		answer->procedure = LOCON_III;
		answer->level = level;
	}
}

/* Of the levels of III the failed run's own moments are the surest, where they were recorded. */
static void answer_levels(const struct locon *locon, const struct locon_request *request,
			  struct locon_answer *answer)
{
	if (request->level >= 0) {
		answer_third(locon, request, (enum locon_level)request->level, answer);
		return;
	}
	answer_third(locon, request, LOCON_MOMENT, answer);
	for (int level = LOCON_SITE; level <= LOCON_LOOP && !answer->findings.n; level++)
		answer_third(locon, request, (enum locon_level)level, answer);
}

void locon_answer(const struct locon *locon, const struct locon_request *request, struct locon_answer *out)
{
	uint32_t tolerance = (uint32_t)(locon->input->npassed / TOLERANCE);

	*out = (struct locon_answer){ 0 };
	if (!locon->input->npassed)
		return;
	if (request->procedure == LOCON_I)
		answer_first(locon, request, 0, out);
	if (request->procedure == LOCON_DEFAULT)
		answer_first(locon, request, tolerance, out);
	if (request->procedure == LOCON_II || (request->procedure == LOCON_DEFAULT && !out->findings.n))
		answer_second(locon, request, out);
	if (request->procedure == LOCON_III || (request->procedure == LOCON_DEFAULT && !out->findings.n))
		answer_levels(locon, request, out);
}

void locon_answer_free(struct locon_answer *answer)
{
	findings_free(&answer->findings);
	VEC_FREE(&answer->reasons);
	*answer = (struct locon_answer){ 0 };
}
