/* unsnarl runs: what is in the store, campaign by campaign; with --curve how the
 * observations of one campaign accumulate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "cmds/curve.h"
#include "report/answer.h"
#include "report/grid.h"
#include "report/text.h"
#include "report/words.h"

#define MOST_ROWS 30 /* of a campaign that was not asked for by number */
#define FIRST_ROWS 10

struct runs_options {
	uint64_t campaign;
	const char *store;
	bool curve, json;
};

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "campaign", .value = "N", .kind = OPTIONS_NUMBER,
	  .offset = offsetof(struct runs_options, campaign), .low = 1, .high = INT64_MAX,
	  .help = "only this campaign, however many lines it takes" },
	{ .name = "curve", .kind = OPTIONS_FLAG, .offset = offsetof(struct runs_options, curve),
	  .help = "accumulated distinct pairs, predecessors and edges after each run, of the campaign that "
		  "ran last unless --campaign names another" },
	CMDS_STORE_ENTRY(struct runs_options),
	CMDS_JSON_ENTRY(struct runs_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "runs",
	.operands = "[options]",
	.summary = "list the recorded runs; --curve shows what they add up to",
	.text = "Lists the recorded runs by campaign: runs of one build of one program with one command "
		"line. Consecutive runs that ended alike share a line.",
	.examples = "  unsnarl runs\n"
		    "  unsnarl runs --curve\n"
		    "  unsnarl runs --campaign 2 --json\n",
	.entries = entries,
};

/* Consecutive runs that ended alike. */
struct fold {
	const struct run *first;
	size_t n;
};

/* How it ended; the reason where that alone does not tell why it failed. */
static char *ended(const struct run *run)
{
	bool puzzling = run->label == LABEL_FAIL && run->outcome == OUTCOME_EXIT && run->code == 0;

	return puzzling && run->reason ? memory_string(run->reason) : words_ended(run);
}

static bool alike(const struct run *a, const struct run *b)
{
	_cleanup_free_ char *ended_a = ended(a);
	_cleanup_free_ char *ended_b = ended(b);

	return a->label == b->label && a->number + 1 == b->number && !strcmp(ended_a, ended_b);
}

static void range_cell(struct grid *grid, const struct fold *fold, uint64_t (*get)(const struct run *))
{
	uint64_t low = get(fold->first), high = low;

	for (size_t i = 1; i < fold->n; i++) {
		uint64_t value = get(&fold->first[i]);

		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	if (low == high)
		grid_cell(grid, "%llu", (unsigned long long)low);
	else
		grid_cell(grid, "%llu-%llu", (unsigned long long)low, (unsigned long long)high);
}

static void time_cell(struct grid *grid, const struct fold *fold)
{
	double low = fold->first->wall_s, high = low;

	for (size_t i = 1; i < fold->n; i++) {
		double value = fold->first[i].wall_s;

		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	if (fold->n == 1)
		grid_cell(grid, "%.3f", low);
	else
		grid_cell(grid, "%.3f-%.3f", low, high);
}

static uint64_t get_number(const struct run *run)
{
	return run->number;
}

static uint64_t get_pairs(const struct run *run)
{
	return run->observations.npairs;
}

static uint64_t get_predecessors(const struct run *run)
{
	return run->observations.npredecessors;
}

static uint64_t get_edges(const struct run *run)
{
	return run->observations.nedges;
}

static uint64_t get_threads(const struct run *run)
{
	return run->observations.nthreads;
}

static void fold_row(struct grid *grid, const struct fold *fold)
{
	_cleanup_free_ char *how = ended(fold->first);

	range_cell(grid, fold, get_number);
	grid_cell(grid, "%s", words_label(fold->first->label));
	grid_cell(grid, "%s", how);
	time_cell(grid, fold);
	range_cell(grid, fold, get_pairs);
	range_cell(grid, fold, get_predecessors);
	range_cell(grid, fold, get_edges);
	range_cell(grid, fold, get_threads);
}

static void print_table(const struct run *runs, size_t n, bool whole)
{
	static const struct grid_column columns[] = {
		{ .title = "run" },
		{ .title = "label" },
		{ .title = "ended", .gives_way = true },
		{ .title = "wall s", .right = true },
		{ .title = "pairs", .right = true },
		{ .title = "preds", .right = true },
		{ .title = "edges", .right = true },
		{ .title = "threads", .right = true },
		{ 0 },
	};
	struct grid grid = { .columns = columns };
	VEC(struct fold) folds = { 0 };
	int width = text_columns();

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !alike(&runs[i - 1], &runs[i]))
			VEC_PUSH(&folds)->first = &runs[i];
		folds.items[folds.n - 1].n++;
	}
	size_t left_out = whole || folds.n <= MOST_ROWS ? 0 : folds.n - MOST_ROWS;

	for (size_t i = 0; i < folds.n; i++) {
		if (left_out && i == FIRST_ROWS) {
			for (size_t c = 0; columns[c].title; c++)
				grid_cell(&grid, "%s", c == 0 ? "..." : "");
			i += left_out;
		}
		fold_row(&grid, &folds.items[i]);
	}
	grid_print(&grid, stdout, 2, width ? width : 80);
	if (left_out)
		printf("  (%zu lines are left out; --campaign N gives them all)\n", left_out);
	grid_free(&grid);
	VEC_FREE(&folds);
}

/* What the simulated machines of the runs that had one counted, all together. */
static void print_machine(const struct run *runs, size_t n)
{
	uint64_t sum[MACHINE_COUNTS] = { 0 };
	size_t machines = 0;

	for (size_t i = 0; i < n; i++) {
		machines += runs[i].settings.machine;
		for (int j = 0; j < MACHINE_COUNTS; j++)
			sum[j] += runs[i].observations.machine[j];
	}
	if (!machines)
		return;
	_cleanup_free_ char *count = words_count(machines, "run", "runs");
	_cleanup_free_ char *words = words_machine(sum, 2);

	printf("  %s on a simulated machine:\n  %s\n", count, words);
}

static struct error *print_campaign(struct store *store, const struct campaign *campaign, bool whole,
				    bool curve)
{
	_cleanup_free_ char *command = words_command(campaign, 20);
	_cleanup_free_ char *count = words_count(campaign->runs, "run", "runs");
	struct run *runs = NULL;
	size_t n = 0;

	printf("Campaign %llu: %s\n  %s, %llu passed, %llu failed\n", (unsigned long long)campaign->number,
	       command, count, (unsigned long long)campaign->passed, (unsigned long long)campaign->failed);
	if (curve) {
		_cleanup_(curve_free) struct curve points = { 0 };

		TRY(curve_collect(store, campaign->number, &points));
		curve_print(&points);
		return NULL;
	}
	TRY(store_runs(store, campaign->number, &runs, &n));
	if (n)
		print_table(runs, n, whole);
	print_machine(runs, n);
	for (size_t i = 0; i < n; i++)
		run_free(&runs[i]);
	free(runs);
	return NULL;
}

static json_t *json_run(const struct run *run)
{
	json_t *object = answer_run(run);

	json_object_set_new(object, "pairs", answer_count(run->observations.npairs));
	json_object_set_new(object, "predecessors", answer_count(run->observations.npredecessors));
	json_object_set_new(object, "edges", answer_count(run->observations.nedges));
	return object;
}

/* Adds the campaign's curve or runs to `object`. */
static struct error *json_campaign(struct store *store, const struct campaign *campaign, bool curve,
				   json_t *object)
{
	json_t *array = json_array();
	struct run *runs = NULL;
	size_t n = 0;

	if (curve) {
		_cleanup_(curve_free) struct curve points = { 0 };

		json_decref(array);
		TRY(curve_collect(store, campaign->number, &points));
		json_object_set_new(object, "curve", curve_json(&points));
		return NULL;
	}
	json_object_set_new(object, "runs", array);
	TRY(store_runs(store, campaign->number, &runs, &n));
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(array, json_run(&runs[i]));
		run_free(&runs[i]);
	}
	free(runs);
	return NULL;
}

static struct error *print_json(struct store *store, const struct cmds_campaigns *campaigns, size_t n,
				bool curve)
{
	json_t *answer = answer_new("runs"), *array = json_array();
	struct error *error = NULL;

	json_object_set_new(answer, "campaigns", array);
	for (size_t i = 0; i < n && !error; i++) {
		const struct campaign *campaign = &campaigns->items[i];
		json_t *object = answer_campaign(campaign);

		json_object_set_new(object, "passed", answer_count(campaign->passed));
		json_object_set_new(object, "failed", answer_count(campaign->failed));
		json_array_append_new(array, object);
		error = json_campaign(store, campaign, curve, object);
	}
	if (error)
		json_decref(answer);
	else
		answer_print(answer);
	return error;
}

static struct error *runs_main(int argc, char **argv, int *status)
{
	struct runs_options options = { .store = CMDS_STORE };
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	char **operands;

	(void)status;
	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (operands[0])
		return error_new("runs takes no operand, but %s was given; unsnarl show tells about one run",
				 operands[0]);
	TRY(store_open(options.store, false, &store));
	TRY(cmds_campaigns(store, options.campaign, &campaigns));
	size_t n = campaigns.n;

	if (options.curve && n > 1) {
		TRY(cmds_campaigns_recent(store, &campaigns));
		n = 1;
	}
	if (options.json)
		return print_json(store, &campaigns, n, options.curve);
	if (n == 0)
		printf("Nothing is recorded yet; unsnarl run -- PROGRAM ARGS does that.\n");
	for (size_t i = 0; i < n; i++) {
		if (i)
			putchar('\n');
		TRY(print_campaign(store, &campaigns.items[i], options.campaign != 0, options.curve));
	}
	return NULL;
}

const struct verb verb_runs = { .page = &page, .main = runs_main };
