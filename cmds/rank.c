/* unsnarl rank: where threads communicated in failed runs as they never did in passed
 * ones, or in few runs only. Chooses the runs, calls the rooms below and prints.
 */
#include "cmds/rank_parts.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bugaboo/deploy.h"
#include "base/memory.h"
#include "cmds/cmds.h"
#include "report/answer.h"
#include "report/rank_answer.h"
#include "report/text.h"
#include "report/words.h"

struct rank_options {
	uint64_t top, campaign, context;
	uint64_t interval_s, threshold;
	const char *store, *picture, *compare, *export, *log;
	unsigned formula;
	bool unlabelled, json, from_log;
};

static const char *const formulas[] = { "novelty", "paper", NULL };
_Static_assert(RANK_NOVELTY == 0 && RANK_PAPER == 1, "orders follow the names");

#define AT(member) .offset = offsetof(struct rank_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "unlabelled", .kind = OPTIONS_FLAG, AT(unlabelled),
	  .help = "do not look at labels: what is rare over all runs" },
	{ .name = "top", .value = "N", .kind = OPTIONS_NUMBER, AT(top), .low = 1, .high = 1000000,
	  .help = "how many code points to show (default 5)" },
	{ .name = "picture", .value = "FILE", .kind = OPTIONS_STRING, AT(picture),
	  .help = "draw what differs, as FILE.svg (needs Graphviz) or FILE.dot" },
	{ .name = "compare", .value = "line|machine|DIR", .kind = OPTIONS_STRING, AT(compare),
	  .help = "instead of a ranking, what runs miss that were recorded with --granularity line or with "
		  "--machine, against those with exact edges; or the runs of the same program in the store DIR" },
	{ .name = "export", .value = "GRAPH", .kind = OPTIONS_STRING, AT(export),
	  .help = "instead of a ranking, write what passed runs did to GRAPH, for the monitor in the field" },
	{ .name = "log", .value = "FILE", .kind = OPTIONS_STRING, AT(log),
	  .help = "with --export: where monitored programs log to, as an absolute path" },
	{ .name = "interval", .value = "S", .kind = OPTIONS_NUMBER, AT(interval_s), .low = 1, .high = 86400,
	  .help = "with --export: seconds after which a monitored program begins a new graph (default 60)" },
	{ .name = "threshold", .value = "N", .kind = OPTIONS_NUMBER, AT(threshold), .high = 8,
	  .help = "with --export: log only what differs with at most N events of context (default 2)" },
	{ .name = "context", .value = "N", .kind = OPTIONS_NUMBER, AT(context), .high = 8,
	  .help = "look at the last N events of context only (default: all that were recorded)" },
	{ .name = "formula", .value = "novelty|paper", .kind = OPTIONS_WORD, AT(formula), .words = formulas,
	  .help = "how points are ordered: by the context that it takes to tell what is new, or by the "
		  "frequency of contexts as published (default novelty)" },
	{ .name = "campaign", .value = "N", .kind = OPTIONS_NUMBER, AT(campaign), .low = 1, .high = INT64_MAX,
	  .help = "all runs of this campaign (default: that of the last failed run)" },
	CMDS_STORE_ENTRY(struct rank_options),
	CMDS_JSON_ENTRY(struct rank_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "rank",
	.operands = "[options] [RUN...|last|LOG]",
	.summary = "rank code points by what is new in how threads communicate",
	.text = "Compares the communication graphs of failed runs with those of passed ones: who read or "
		"overwrote what another thread had written, and after which last events of both threads. "
		"Code "
		"points where failed runs differ from all passed ones come first. Without operands all runs "
		"of the campaign are used; failed runs alone are compared with all passed runs of their "
		"campaign; a list of failed and passed runs is used as it is. last is the last failed run. "
		"LOG is what a monitored program logged (see --export). The exit status is 1 when there is "
		"something to look at.",
	.examples = "  unsnarl run -n 100 --jitter -- ./program; unsnarl rank\n"
		    "  unsnarl rank last --picture difference.svg\n"
		    "  unsnarl rank --unlabelled --top 20\n",
	.entries = entries,
};

struct selection {
	uint64_t campaign;
	VEC(uint64_t) runs; /* none: all of the campaign */
};

static struct error *read_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		return error_new("%s is no run number and not last", text);
	return NULL;
}

/* The campaign of a run and whether it failed. */
static struct error *look_up(struct store *store, uint64_t number, uint64_t *campaign, bool *failed)
{
	_cleanup_(run_free) struct run run = { 0 };

	TRY(store_run(store, number, &run, campaign));
	*failed = run.label == LABEL_FAIL;
	return NULL;
}

static struct error *add_passed(struct store *store, struct selection *selection)
{
	struct run *runs = NULL;
	size_t n = 0;

	TRY(store_runs(store, selection->campaign, &runs, &n));
	for (size_t i = 0; i < n; i++) {
		if (runs[i].label == LABEL_PASS)
			*VEC_PUSH(&selection->runs) = runs[i].number;
		run_free(&runs[i]);
	}
	free(runs);
	return NULL;
}

static struct error *select_named(struct store *store, char **operands, struct selection *selection)
{
	bool all_failed = true;

	for (char **operand = operands; *operand; operand++) {
		uint64_t number, campaign;
		bool failed;

		if (!strcmp(*operand, "last")) {
			TRY(store_last_failed(store, selection->campaign, &number));
			if (!number)
				return error_new("no recorded run has failed yet; unsnarl runs lists them by "
						 "number");
		} else {
			TRY(read_number(*operand, &number));
		}
		TRY(look_up(store, number, &campaign, &failed));
		if (selection->campaign && campaign != selection->campaign)
			return error_new(
				"run %llu is of campaign %llu, not %llu; only runs of one program with "
				"one command line can be compared",
				(unsigned long long)number, (unsigned long long)campaign,
				(unsigned long long)selection->campaign);
		selection->campaign = campaign;
		all_failed &= failed;
		*VEC_PUSH(&selection->runs) = number;
	}
	return all_failed ? add_passed(store, selection) : NULL;
}

static struct error *select_runs(struct store *store, const struct rank_options *options, char **operands,
				 struct selection *selection)
{
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	uint64_t number;
	bool failed;

	selection->campaign = options->campaign;
	if (*operands)
		return select_named(store, operands, selection);
	if (selection->campaign)
		return NULL;
	TRY(store_last_failed(store, 0, &number));
	if (number)
		return look_up(store, number, &selection->campaign, &failed);
	TRY(cmds_campaigns(store, 0, &campaigns));
	TRY(cmds_campaigns_recent(store, &campaigns));
	if (!campaigns.n)
		return error_new("no runs are recorded yet; unsnarl run records some");
	selection->campaign = campaigns.items[0].number;
	return NULL;
}

/* Without labels all runs are alike. */
static void forget_labels(struct graphs *graphs)
{
	for (size_t i = 0; i < graphs->passed.n; i++)
		*VEC_PUSH(&graphs->failed) = graphs->passed.items[i];
	for (size_t i = 0; graphs->ran_failed && i < graphs->points.n; i++)
		graphs->ran_failed[i] += graphs->ran_passed[i];
	graphs->passed.n = 0;
}

static struct error *check_graphs(const struct rank_options *options, const struct graphs *graphs)
{
	if (!graphs->interned.nedges)
		return error_new(
			"no edges are recorded in campaign %llu; run the program with --observe edges or "
			"all",
			(unsigned long long)graphs->campaign);
	if (options->unlabelled)
		return NULL;
	if (!graphs->failed.n && options->from_log)
		return error_new("the log holds nothing that passed runs did not show");
	if (!graphs->failed.n)
		return error_new(
			"none of these runs failed; run more, or use --unlabelled to see what is rare");
	if (!graphs->passed.n)
		return error_new("all of these runs failed, so there is nothing to compare with; record runs "
				 "that pass, or use --unlabelled");
	return NULL;
}

static struct error *print(struct rank_view *view, const struct rank_options *options,
			   const struct campaign *campaign)
{
	if (options->picture)
		TRY(rank_picture(view, options->picture));
	if (options->json) {
		json_t *answer = answer_new("rank"), *head = answer_campaign(campaign);

		json_object_update(answer, head);
		json_decref(head);
		json_object_set_new(answer, "context", json_integer(view->graphs->graph.events));
		json_object_set_new(answer, "skipped_runs", answer_count(view->graphs->skipped));
		json_object_set_new(answer, "edges", answer_count(view->graphs->graph.nedges));
		json_object_set_new(answer, "odd_edges", answer_count(view->result->odd_edges));
		json_object_set_new(answer, "points", answer_count(view->result->points.n));
		json_object_set_new(answer, "findings", rank_answer(view));
		answer_print(answer);
		return NULL;
	}
	_cleanup_free_ char *program = memory_string(campaign->program);
	_cleanup_free_ char *command = words_command(campaign, 0);

	view->excerpts.folder = memory_string(dirname(program));
	printf("%s\n", command);
	rank_view_print(view);
	if (options->picture) {
		_cleanup_free_ char *file = text_clean(options->picture);

		printf("The picture is in %s.\n", file);
	}
	excerpt_free(&view->excerpts);
	return NULL;
}

static struct error *rank(struct store *store, const struct rank_options *options, struct graphs *graphs,
			  int *status)
{
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	_cleanup_(rank_free) struct rank_result result = { 0 };

	TRY(check_graphs(options, graphs));
	TRY(cmds_campaigns(store, graphs->campaign, &campaigns));
	if (options->unlabelled)
		forget_labels(graphs);
	const struct rank_input input = graphs_input(graphs, options->formula);

	(options->unlabelled ? rank_unlabelled : rank_labelled)(&input, &result);
	struct rank_view view = { .store = store,
				  .graphs = graphs,
				  .result = &result,
				  .passed = graphs->passed.n,
				  .failed = graphs->failed.n,
				  .top = options->top,
				  .unlabelled = options->unlabelled,
				  .what_failed = options->from_log ? "logged intervals" : "failed runs" };

	TRY(print(&view, options, &campaigns.items[0]));
	*status = result.points.n > 0;
	return NULL;
}

static struct error *export_graph(struct store *store, const struct rank_options *options,
				  const struct graphs *graphs)
{
	const struct deploy_options deploy = { .log = options->log,
					       .threshold = (unsigned)options->threshold,
					       .interval_s = (uint32_t)options->interval_s,
					       .line = graphs->line };
	size_t edges, units;

	if (!graphs->passed.n)
		return error_new("no run has passed, so nothing can be exported as what is usual");
	if (options->log && *options->log != '/')
		return error_new("the log %s must be an absolute path: programs run elsewhere", options->log);
	TRY(deploy_export(store, graphs, options->export, &deploy, &edges, &units));
	if (options->json) {
		json_t *answer = answer_new("rank");

		json_object_set_new(answer, "graph", answer_text(options->export));
		json_object_set_new(answer, "edges", answer_count(edges));
		json_object_set_new(answer, "passed", answer_count(graphs->passed.n));
		answer_print(answer);
		return NULL;
	}
	_cleanup_free_ char *file = text_clean(options->export);

	printf("%s: %zu edges of %zu passed runs. In the field:\n  UNSNARL_MONITOR=%s%s ./program\n", file,
	       edges, graphs->passed.n, file, options->log ? "" : " UNSNARL_MONITOR_LOG=FILE");
	return NULL;
}

/* What monitored programs logged, against all passed runs of the campaign. */
static struct error *take_log(struct store *store, const char *path, struct graphs *graphs)
{
	_cleanup_(deploy_log_free) struct deploy_log log = { 0 };

	TRY(deploy_read_log(store, path, &log));
	if (log.unknown || log.dropped)
		fprintf(stderr,
			"unsnarl rank: %zu entries are of source files that no recorded run used, %llu found "
			"no "
			"room in the log\n",
			log.unknown, (unsigned long long)log.dropped);
	if (log.edges.n && log.context != graphs->graph.events)
		return error_new("the log has contexts of %u events, the recorded runs of %u", log.context,
				 graphs->graph.events);
	return graphs_replace_failed(store, graphs, log.edges.items, log.graph_of.items, log.edges.n,
				     log.graphs);
}

static void selection_free(struct selection *selection)
{
	VEC_FREE(&selection->runs);
}

static struct error *rank_main(int argc, char **argv, int *status)
{
	struct rank_options options = {
		.store = CMDS_STORE, .top = 5, .context = CONTEXT_MOST, .interval_s = 60, .threshold = 2
	};
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(graphs_free) struct graphs graphs = { 0 };
	_cleanup_(selection_free) struct selection selection = { 0 };
	char **operands;

	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	TRY(store_open(options.store, false, &store));
	const char *log = operands[0] && !operands[1] && deploy_is_log(operands[0]) ? operands[0] : NULL;

	if (log)
		operands++;
	TRY(select_runs(store, &options, operands, &selection));
	enum graphs_way way =
		options.compare && rank_compare_way(options.compare) != WAY_ANY ? WAY_WORD : WAY_ANY;

	TRY(graphs_load(store, selection.campaign, selection.runs.items, selection.runs.n, way, &graphs));
	if (options.export)
		return export_graph(store, &options, &graphs);
	if (log) {
		TRY(take_log(store, log, &graphs));
		options.from_log = true;
	}
	if (!log && !options.compare && !options.unlabelled) {
		TRY(graphs_add_untouched(store, &graphs));
		TRY(graphs_find_overwrites(store, &graphs));
	}
	graphs_shorten(&graphs, (unsigned)options.context);
	if (options.compare)
		return rank_compare_runs(store, &graphs, options.compare, options.json);
	return rank(store, &options, &graphs, status);
}

const struct verb verb_rank = { .page = &page, .main = rank_main };
