/* The runs of one call of `unsnarl run`, for people and as JSON: how they ended, what was new, where it is, what to
 * type next. Does not touch the store.
 */
#include "report/run_view.h"

#include <stdlib.h>

#include "base/options.h"
#include "report/answer.h"
#include "report/grid.h"
#include "report/text.h"
#include "report/words.h"

#define MOST_REASONS 10

char *run_view_words(const struct run_summary *summary)
{
	return memory_format("%llu passed, %llu failed, %llu hung", (unsigned long long)summary->passed,
			     (unsigned long long)summary->failed, (unsigned long long)summary->hung);
}

static int more_first(const void *a, const void *b)
{
	const struct run_reason *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->numbers[0] < y->numbers[0] ? -1 : 1;
}

static void print_reasons(const struct run_summary *summary)
{
	for (size_t i = 0; i < summary->reasons.n && i < MOST_REASONS; i++) {
		const struct run_reason *reason = &summary->reasons.items[i];
		_cleanup_free_ char *words = text_clean(reason->words);

		printf("  %llu  %s: run%s ", (unsigned long long)reason->count, words,
		       reason->count == 1 ? "" : "s");
		for (uint64_t k = 0; k < reason->count && k < RUN_SUMMARY_NUMBERS; k++)
			printf("%s%llu", k ? ", " : "", (unsigned long long)reason->numbers[k]);
		printf("%s\n", reason->count > RUN_SUMMARY_NUMBERS ? ", ..." : "");
	}
	if (summary->reasons.n > MOST_REASONS)
		printf("  and %zu further reasons: unsnarl runs lists them\n",
		       summary->reasons.n - MOST_REASONS);
}

static void print_counts(const struct run_summary *summary)
{
	static const struct grid_column columns[] = { { .title = "observed" },
						      { .title = "distinct", .right = true },
						      { .title = "new", .right = true },
						      { 0 } };
	struct grid grid = { .columns = columns };
	const struct {
		const char *name;
		uint64_t before, after;
	} rows[] = { { "pairs", summary->before.pairs, summary->after.pairs },
		     { "predecessors", summary->before.predecessors, summary->after.predecessors },
		     { "edges", summary->before.edges, summary->after.edges } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		grid_cell(&grid, "%s", rows[i].name);
		grid_cell(&grid, "%llu", (unsigned long long)rows[i].after);
		grid_cell(&grid, "%llu", (unsigned long long)(rows[i].after - rows[i].before));
	}
	grid_print(&grid, stdout, 2, 0);
	grid_free(&grid);
}

static void print_next(const struct run_summary *summary)
{
	_cleanup_free_ char *option = words_store_option(summary->store);

	printf("Next:\n");
	if (summary->failed)
		printf("  unsnarl show last%s     what the last failed run did\n", option);
	else
		printf("  unsnarl run --jitter ...  further runs, with random delays\n");
	printf("  unsnarl runs --curve%s  do more runs still show anything new?\n", option);
}

void run_view_print(const struct run_summary *summary)
{
	struct campaign campaign = { .program = (char *)(uintptr_t)summary->program,
				     .arguments = (char **)(uintptr_t)summary->arguments };
	_cleanup_free_ char *command = words_command(&campaign, 56);
	_cleanup_free_ char *runs = words_count(summary->done, "run", "runs");
	_cleanup_free_ char *time = words_seconds(summary->wall_s);
	_cleanup_free_ char *folder = text_clean(summary->store);

	if (summary->reasons.n)
		qsort(summary->reasons.items, summary->reasons.n, sizeof *summary->reasons.items, more_first);
	printf("%s of %s in %s: %llu passed, %llu failed\n", runs, command, time,
	       (unsigned long long)summary->passed, (unsigned long long)summary->failed);
	if (!summary->done)
		return;
	print_reasons(summary);
	if (summary->hung && summary->hung == summary->done)
		options_fill(stdout,
			     "No run ended in time, which need not be a hang: --timeout says how long a run "
			     "of this program may take (0: for ever).",
			     0, 0);
	print_counts(summary);
	if (summary->unobserved)
		printf("Not observed: %llu of the runs ended before the observers were ready.\n",
		       (unsigned long long)summary->unobserved);
	if (summary->dropped)
		printf("Incomplete: in %llu of the runs %llu observations found no room and are lost.\n",
		       (unsigned long long)summary->incomplete, (unsigned long long)summary->dropped);
	if (summary->first == summary->last)
		printf("Recorded as run %llu", (unsigned long long)summary->first);
	else
		printf("Recorded as runs %llu-%llu", (unsigned long long)summary->first,
		       (unsigned long long)summary->last);
	printf(" of campaign %llu in %s.\n", (unsigned long long)summary->campaign, folder);
	print_next(summary);
}

static json_t *json_counts(const struct run_summary *summary)
{
	json_t *object = json_object();
	const struct {
		const char *name;
		uint64_t before, after;
	} rows[] = { { "pairs", summary->before.pairs, summary->after.pairs },
		     { "predecessors", summary->before.predecessors, summary->after.predecessors },
		     { "edges", summary->before.edges, summary->after.edges } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		json_object_set_new(object, rows[i].name,
				    json_pack("{s:o, s:o}", "distinct", answer_count(rows[i].after), "new",
					      answer_count(rows[i].after - rows[i].before)));
	json_object_set_new(object, "dropped", answer_count(summary->dropped));
	json_object_set_new(object, "unobserved_runs", answer_count(summary->unobserved));
	return object;
}

static json_t *json_reasons(const struct run_summary *summary)
{
	json_t *array = json_array();

	for (size_t i = 0; i < summary->reasons.n; i++) {
		const struct run_reason *reason = &summary->reasons.items[i];

		json_array_append_new(array,
				      json_pack("{s:o, s:o, s:o}", "reason", answer_text(reason->words),
						"count", answer_count(reason->count), "first",
						answer_count(reason->numbers[0])));
	}
	return array;
}

void run_view_json(const struct run_summary *summary)
{
	json_t *answer = answer_new_of("run", summary->program, summary->arguments, summary->build,
				       summary->store, summary->campaign);

	json_object_set_new(answer, "first", summary->done ? answer_count(summary->first) : json_null());
	json_object_set_new(answer, "last", summary->done ? answer_count(summary->last) : json_null());
	json_object_set_new(answer, "runs",
			    json_pack("{s:o, s:o, s:o, s:o, s:o}", "wanted", answer_count(summary->wanted),
				      "done", answer_count(summary->done), "passed",
				      answer_count(summary->passed), "failed", answer_count(summary->failed),
				      "hung", answer_count(summary->hung)));
	json_object_set_new(answer, "failures", json_reasons(summary));
	json_object_set_new(answer, "observations", json_counts(summary));
	json_object_set_new(answer, "machine", answer_machine(summary->machine));
	json_object_set_new(answer, "jitter_us", json_integer(summary->jitter_us));
	json_object_set_new(answer, "seed", answer_count(summary->seed));
	json_object_set_new(answer, "wall_s", json_real(summary->wall_s));
	json_object_set_new(answer, "interrupted", json_boolean(summary->interrupted));
	answer_print(answer);
}
