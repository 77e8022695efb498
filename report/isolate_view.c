/* The finding, then the chain from the crash back to the root cause, hop by hop with
 * values, then what it cost.
 */
#include "report/isolate_view.h"

#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "report/answer.h"
#include "report/excerpt.h"
#include "report/finding_view.h"
#include "report/isolate_words.h"
#include "report/sentence.h"

static const char *const verdict_names[] = {
	[ISOLATE_NOTHING] = "no-failure",  [ISOLATE_ORDER] = "order",      [ISOLATE_ROOT] = "root-cause",
	[ISOLATE_UNDEFINED] = "undefined", [ISOLATE_BEST] = "best-so-far", [ISOLATE_UNKNOWN] = "unknown",
	[ISOLATE_KEPT_LOCK] = "kept-lock",
};

#define FUNCTION_MOST 32 /* columns that the name of a function gets */
#define COLUMNS 80

/* FILE:LINE in FUNCTION, or FUNCTION+OFFSET where there is no debug information. */
static char *place_words(struct isolation *isolation, const struct isolate_place *place)
{
	struct unit unit = isolation_place(isolation, place, SITE_READ);
	const char *slash = unit.nsites ? strrchr(unit.sites[0].file, '/') : NULL;
	char *words;

	if (!unit.nsites)
		words = memory_string("a place without a name");
	else if (unit.sites[0].line)
		words = memory_format("%s:%u in %.*s", slash ? slash + 1 : unit.sites[0].file,
				      unit.sites[0].line, FUNCTION_MOST, unit.sites[0].function);
	else
		words = memory_format("%.*s", 2 * FUNCTION_MOST, unit.sites[0].function);
	unit_free(&unit);
	return words;
}

static void print_source(struct isolation *isolation, struct excerpts *excerpts,
			 const struct isolate_place *place, FILE *out)
{
	struct unit unit = isolation_place(isolation, place, SITE_READ);

	if (unit.nsites && unit.sites[0].line) {
		_cleanup_free_ char *line = excerpt_line(excerpts, unit.sites[0].file, unit.sites[0].line);

		if (line)
			fprintf(out, "     |      %.*s\n", COLUMNS - 12, line);
	}
	unit_free(&unit);
}

/* One arrow back: who read the value, and who had put it there. `says_where`: the read before went to a place that
 * nobody had written, or that holds something else, and this value had said where. */
static void print_hop(struct isolation *isolation, struct excerpts *excerpts, const struct isolate_hop *hop,
		      bool says_where, bool left_out, FILE *out)
{
	_cleanup_free_ char *reads = place_words(isolation, &hop->place);
	_cleanup_free_ char *writes = place_words(isolation, &hop->definition.place);
	const char *defined = isolate_definer_words(hop->definition.definer);

	_cleanup_free_ char *value = hop->definition.definer == DEFINED_FREED
					     ? memory_string("a part of a block")
				     : hop->lost ? memory_string("a value that is not there any more")
						 : memory_format("the value %#" PRIx64, hop->value);

	fprintf(out,
		"     |\n     +-- %s %s (%" PRIu64 " byte%s at %#" PRIx64 "),\n     |   read by T%u at %s\n",
		says_where ? "where to read was said by" : "it used", value, hop->size,
		hop->size == 1 ? "" : "s", hop->address, hop->thread, reads);
	print_source(isolation, excerpts, &hop->place, out);
	if (hop->definition.place.address) {
		fprintf(out, "     +-- which was %s by T%u at %s%s\n", defined, hop->definition.thread,
			writes, hop->copied ? ", as a copy" : "");
		print_source(isolation, excerpts, &hop->definition.place, out);
	} else {
		fprintf(out, "     +-- which was %s%s\n", defined,
			hop->definition.definer == DEFINED_STORE ? " by code that is not the program's" : "");
	}
	if (left_out)
		fprintf(out, "     ^\n     %s in the next run\n",
			hop->definition.definer == DEFINED_FREED ? "the block was kept"
								 : "this write was left out");
}

static bool is_same_place(const struct isolate_place *a, const struct isolate_place *b)
{
	return a->module == b->module && a->address == b->address;
}

/* A further turn of a loop: the same thread reads and the same one had written, at the same places. */
static bool is_turn(const struct isolate_hop *hop, const struct isolate_hop *next)
{
	return hop->thread == next->thread && is_same_place(&hop->place, &next->place) &&
	       hop->definition.thread == next->definition.thread &&
	       is_same_place(&hop->definition.place, &next->definition.place);
}

/* All hops up to `last`; of turns of a loop the first. What was left out is told at its own hop, `marked`. */
static void print_hops(struct isolation *isolation, struct excerpts *excerpts, const struct isolate_use *use,
		       size_t last, size_t marked, FILE *out)
{
	for (size_t h = 0; h < last; h++) {
		size_t turns = 0;

		print_hop(isolation, excerpts, &use->hops[h], h && use->hops[h - 1].placed, h == marked, out);
		while (h + 1 < last && h + 1 != marked && is_turn(&use->hops[h], &use->hops[h + 1])) {
			h++;
			turns++;
		}
		if (turns)
			fprintf(out,
				"     |\n     +-- and so on, %zu time%s more, from the value %#" PRIx64 "\n",
				turns, turns == 1 ? "" : "s", use->hops[h].value);
	}
}

/* The two pointers to a block that was freed. */
static void print_pointers(struct isolation *isolation, struct excerpts *excerpts,
			   const struct isolate_failure *failure, FILE *out)
{
	const struct isolate_hop *kept = &failure->kept, *freed_by = &failure->freed_by;
	_cleanup_free_ char *written = place_words(isolation, &kept->definition.place);
	_cleanup_free_ char *read = place_words(isolation, &freed_by->place);

	if (kept->size && kept->definition.place.address) {
		fprintf(out,
			"     |\n     +-- the pointer to it was still kept at %#" PRIx64
			",\n     |   put there by T%u at %s\n",
			kept->address, kept->definition.thread, written);
		print_source(isolation, excerpts, &kept->definition.place, out);
	}
	if (freed_by->size && freed_by->address != kept->address) {
		fprintf(out,
			"     +-- it was freed by the pointer at %#" PRIx64 ",\n     |   read by T%u at %s\n",
			freed_by->address, freed_by->thread, read);
		print_source(isolation, excerpts, &freed_by->place, out);
	}
}

/* An address that came from no memory: who used it, and that what follows is what a branch went by. */
static void print_caller(struct isolation *isolation, struct excerpts *excerpts,
			 const struct isolate_failure *failure, FILE *out)
{
	_cleanup_free_ char *caller = place_words(isolation, &failure->caller);

	if (!failure->caller.address)
		return;
	fprintf(out,
		"     |\n     +-- the address is a constant, %#" PRIx64
		",\n     |   given by the call at %s;\n",
		failure->address, caller);
	print_source(isolation, excerpts, &failure->caller, out);
	fprintf(out, "     +-- a branch before went by what is told here:\n");
}

/* A copy that ended just before what nobody had written. */
static void print_length(struct isolation *isolation, struct excerpts *excerpts,
			 const struct isolate_failure *failure, FILE *out)
{
	const struct isolate_hop *length = &failure->length.hops[0];
	_cleanup_free_ char *copied = place_words(isolation, &failure->copied);

	if (!failure->length.nhops)
		return;
	fprintf(out, "     |\n     +-- a copy of %" PRIu64 " bytes had ended before it, at %s\n",
		length->value, copied);
	print_source(isolation, excerpts, &failure->copied, out);
}

/* The use that was followed; of an order the first. */
static void print_step(struct isolation *isolation, struct excerpts *excerpts, size_t number, FILE *out)
{
	const struct isolate_step *step = &isolation->steps.items[number];
	const struct isolate_failure *failure = &step->failure;
	_cleanup_free_ char *where = place_words(isolation, &failure->place);
	bool chosen = step->used < failure->nuses && isolation->verdict != ISOLATE_ORDER &&
		      !failure->caller.address;
	const struct isolate_use *use = &failure->uses[chosen ? step->used : 0];
	size_t last = chosen ? step->hop + 1 : failure->caller.address ? 1 : use->nhops;
	/* What was never written is the end of it. */
	for (size_t h = 0; chosen && !step->left_out && h < last; h++)
		if (use->hops[h].placed)
			last = h + 1;
	_cleanup_free_ char *signal = step->outcome == OUTCOME_SIGNAL && sigabbrev_np(step->code)
					      ? memory_format(" (SIG%s)", sigabbrev_np(step->code))
					      : memory_string("");

	fprintf(out, "\n  %zu. T%u failed at %s%s:\n     %s\n", number + 1, failure->thread, where, signal,
		isolate_failed_words(failure->kind));
	print_source(isolation, excerpts, &failure->place, out);
	print_pointers(isolation, excerpts, failure, out);
	print_caller(isolation, excerpts, failure, out);
	print_length(isolation, excerpts, failure, out);
	/* Where locks are to blame the values that somebody waits by are not. */
	if (failure->nuses && isolation->finding.class != FINDING_DEADLOCK)
		print_hops(isolation, excerpts, use, last, step->left_out ? step->hop : SIZE_MAX, out);
}

static void print_check(struct isolation *isolation, struct excerpts *excerpts, FILE *out)
{
	_cleanup_free_ char *place = place_words(isolation, &isolation->check);

	if (!isolation->check.address)
		return;
	fprintf(out, "\nBefore that it had passed a check at %s:\n", place);
	print_source(isolation, excerpts, &isolation->check, out);
	fprintf(out, "     In a run in which the check went the other way this once, nothing failed.\n");
}

/* What is left of a value: with its sign where it would be right without. */
static int64_t as_kept(const struct isolate_clue *clue)
{
	int shift = 64 - 8 * (int)clue->size;

	return clue->value == clue->full ? (int64_t)(clue->value << shift) >> shift : (int64_t)clue->value;
}

/* Values that lost bits, and memory that was given to something new as it was. */
static void print_clues(struct isolation *isolation, struct excerpts *excerpts, FILE *out)
{
	const struct isolate_failure *failure = &isolation->steps.items[0].failure;

	for (size_t i = 0; i < failure->nclues; i++) {
		const struct isolate_clue *clue = &failure->clues[i];
		_cleanup_free_ char *place = place_words(isolation, &clue->place);

		if (clue->kind != CLUE_CUT)
			continue;
		if (!clue->full)
			fprintf(out, "\nA part of a text, say, was read as a number below zero at %s:\n",
				place);
		else if ((int64_t)clue->full < 0)
			fprintf(out, "\nA number became less than zero, %" PRId64 ", at %s:\n",
				(int64_t)clue->full, place);
		else
			fprintf(out,
				"\nA value did not fit: %" PRIu64 " became %" PRId64 " (%u byte%s) at %s:\n",
				clue->full, as_kept(clue), clue->size, clue->size == 1 ? "" : "s", place);
		print_source(isolation, excerpts, &clue->place, out);
	}
	if (isolation->renewed)
		fprintf(out,
			"\nMemory that had been used before was given to something new. In a run in which\n"
			"what the last owner had left there was cleared then, nothing failed.\n");
}

static void print_verdict(const struct isolation *isolation, FILE *out)
{
	_cleanup_free_ char *words = isolate_verdict_words(isolation);

	options_fill(out, words, 0, 0);
}

static void print_nothing(const struct isolation *isolation, const char *program, FILE *out)
{
	uint64_t runs = isolation->runs.hunt + !isolation->others_pass;
	_cleanup_free_ char *words = NULL;

	if (isolation->original.outcome == OUTCOME_SLOW || isolation->original.outcome == OUTCOME_TIMEOUT)
		words = memory_format(
			"%s was still running when its time was up, and it was not seen that it hangs: "
			"values that are followed cost time. --timeout and --time give it more.",
			program);
	else if (isolation->original.label == LABEL_FAIL)
		words = memory_format(
			"%s fails (%s) but does not crash or hang: say which value is wrong, as in "
			"unsnarl isolate --watch FILE:LINE:EXPRESSION -- %s",
			program, isolation->original.reason, program);
	else
		words = memory_format(
			"%s did not fail in %" PRIu64
			" run%s; isolate needs a crash, a failed assert, an abort or a hang. Of a "
			"wrong result --check or --expect say that it is wrong, and --watch where "
			"the wrong value is read.",
			program, runs, runs == 1 ? "" : "s");
	options_fill(out, words, 0, 0);
}

void isolation_print(struct isolation *isolation, const char *program, FILE *out)
{
	_cleanup_free_ char *copy = memory_string(program);
	struct excerpts excerpts = { .folder = memory_string(dirname(copy)) };

	if (isolation->verdict == ISOLATE_NOTHING) {
		print_nothing(isolation, program, out);
		excerpt_free(&excerpts);
		return;
	}
	print_verdict(isolation, out);
	if (isolation->finding.accesses.n)
		finding_print(&isolation->finding, &excerpts, out);
	fprintf(out, "\nFrom the failure back to it:\n");
	for (size_t i = 0; i < isolation->steps.n; i++)
		print_step(isolation, &excerpts, i, out);
	if (isolation->finding.accesses.n && !isolation->finding.accesses.items[0].line)
		fprintf(out, "\nThere is no debug information: functions and offsets are named instead of\n"
			     "lines. A build with -g says more.\n");
	print_check(isolation, &excerpts, out);
	if (isolation->steps.n && isolation->verdict != ISOLATE_ORDER &&
	    isolation->verdict != ISOLATE_KEPT_LOCK)
		print_clues(isolation, &excerpts, out);
	uint64_t executions = isolation->runs.original + isolation->runs.suppression + isolation->runs.race +
			      isolation->runs.violation;

	fprintf(out,
		"\n%" PRIu64 " execution%s: %" PRIu64 " original + %" PRIu64 " suppression + %" PRIu64
		" race + %" PRIu64 " violation;\n%.1f seconds%s.\n",
		executions, executions == 1 ? "" : "s", isolation->runs.original, isolation->runs.suppression,
		isolation->runs.race, isolation->runs.violation, isolation->wall_s,
		isolation->runs.hunt ? ", with the search for a failure" : "");
	excerpt_free(&excerpts);
}

/* ---- JSON ---- */

static json_t *place_json(struct isolation *isolation, const struct isolate_place *place)
{
	struct unit unit = isolation_place(isolation, place, SITE_READ);
	json_t *object = json_object();

	if (unit.nsites) {
		json_object_set_new(object, "file", answer_text(unit.sites[0].file));
		json_object_set_new(object, "line", answer_count(unit.sites[0].line));
		json_object_set_new(object, "function", answer_text(unit.sites[0].function));
	}
	unit_free(&unit);
	return object;
}

static json_t *hop_json(struct isolation *isolation, const struct isolate_hop *hop)
{
	json_t *object = json_object();

	json_object_set_new(object, "address", answer_hex(hop->address));
	json_object_set_new(object, "size", answer_count(hop->size));
	json_object_set_new(object, "value", hop->lost ? json_null() : answer_hex(hop->value));
	json_object_set_new(object, "read", place_json(isolation, &hop->place));
	json_object_set_new(object, "read_thread", answer_count(hop->thread));
	json_object_set_new(object, "definer", answer_text(isolate_definer_name(hop->definition.definer)));
	json_object_set_new(object, "defined", place_json(isolation, &hop->definition.place));
	json_object_set_new(object, "defined_thread", answer_count(hop->definition.thread));
	json_object_set_new(object, "copied", json_boolean(hop->copied));
	json_object_set_new(object, "next_said_where", json_boolean(hop->placed));
	return object;
}

static json_t *step_json(struct isolation *isolation, const struct isolate_step *step)
{
	json_t *object = json_object(), *uses = json_array();

	for (size_t i = 0; i < step->failure.nuses; i++)
		for (size_t h = 0; h < step->failure.uses[i].nhops; h++)
			json_array_append_new(uses, hop_json(isolation, &step->failure.uses[i].hops[h]));
	json_object_set_new(object, "signal", answer_count((uint64_t)step->code));
	json_object_set_new(object, "kind", answer_text(isolate_failed_name(step->failure.kind)));
	json_object_set_new(object, "thread", answer_count(step->failure.thread));
	json_object_set_new(object, "place", place_json(isolation, &step->failure.place));
	json_object_set_new(object, "used", uses);
	return object;
}

static json_t *experiments_json(const struct isolation *isolation)
{
	static const char *const names[] = { [MOVED_ATOMIC] = "as-one-step",
					     [MOVED_ORDER] = "reversed",
					     [MOVED_ONCE] = "one-waits",
					     [MOVED_FORCED] = "forced",
					     [MOVED_DEFERRED] = "failing-thread-last" };
	json_t *list = json_array();

	for (size_t i = 0; i < isolation->experiments.n; i++) {
		const struct isolate_experiment *experiment = &isolation->experiments.items[i];
		_cleanup_free_ char *accesses = sentence_accesses(&experiment->accesses);
		json_t *object = json_object();

		json_object_set_new(object, "moved", answer_text(names[experiment->use]));
		json_object_set_new(object, "accesses", answer_text(accesses));
		json_object_set_new(object, "passes", json_boolean(experiment->passes));
		json_object_set_new(object, "given_up", json_boolean(experiment->given_up));
		json_object_set_new(object, "came", json_boolean(experiment->came));
		json_array_append_new(list, object);
	}
	return list;
}

void isolation_json(struct isolation *isolation, const char *program)
{
	json_t *answer = answer_new("isolate"), *chain = json_array(), *runs = json_object();
	json_t *findings = json_array();

	for (size_t i = 0; i < isolation->steps.n; i++)
		json_array_append_new(chain, step_json(isolation, &isolation->steps.items[i]));
	json_object_set_new(runs, "original", answer_count(isolation->runs.original));
	json_object_set_new(runs, "suppression", answer_count(isolation->runs.suppression));
	json_object_set_new(runs, "race", answer_count(isolation->runs.race));
	json_object_set_new(runs, "violation", answer_count(isolation->runs.violation));
	json_object_set_new(runs, "hunt", answer_count(isolation->runs.hunt));
	json_object_set_new(answer, "program", answer_text(program));
	json_object_set_new(answer, "verdict", answer_text(verdict_names[isolation->verdict]));
	json_object_set_new(answer, "sure", json_boolean(isolation->sure));
	if (isolation->finding.accesses.n)
		json_array_append_new(findings, finding_json(&isolation->finding));
	json_object_set_new(answer, "findings", findings);
	json_object_set_new(answer, "chain", chain);
	json_object_set_new(answer, "experiments", experiments_json(isolation));
	json_object_set_new(answer, "executions", runs);
	json_object_set_new(answer, "threads", answer_count(isolation->original.observations.nthreads));
	json_object_set_new(answer, "traced", answer_count(isolation->original.observations.nevents));
	json_object_set_new(answer, "longest_seconds", json_real(isolation->original.wall_s));
	json_object_set_new(answer, "seconds", json_real(isolation->wall_s));
	answer_print(answer);
}
