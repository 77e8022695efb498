/* unsnarl show RUN: how the run ended, its pairs in order of occurrence, and on
 * demand its predecessors and edges.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "cmds/show.h"
#include "report/answer.h"
#include "report/listing.h"
#include "report/text.h"
#include "report/words.h"

#define OUTPUT_LINES 10

/* The beginning of the last `lines` lines. */
static const char *tail(const char *text, int lines)
{
	const char *at = text + strlen(text);

	if (at > text && at[-1] == '\n')
		at--;
	while (at > text && (at[-1] != '\n' || --lines > 0))
		at--;
	return at;
}

static void print_output(const char *output, bool whole)
{
	const char *at = whole ? output : tail(output, OUTPUT_LINES);

	printf("  output%s\n", at > output ? ", its end (--all for more):" : ":");
	while (*at) {
		size_t length = strcspn(at, "\n");
		_cleanup_free_ char *clean = text_clean_size(at, length);
		_cleanup_free_ char *line = text_cut_line(clean, 4);

		printf("  | %s\n", line);
		at += length + (at[length] == '\n');
	}
}

static void print_head(const struct run *run, const struct campaign *campaign, bool whole)
{
	_cleanup_free_ char *command = words_command(campaign, 11);
	_cleanup_free_ char *how = words_ended(run);
	_cleanup_free_ char *reason = text_clean(run->reason ? run->reason : "");
	_cleanup_free_ char *wall = words_seconds(run->wall_s);
	_cleanup_free_ char *cpu = words_seconds(run->cpu_s);
	_cleanup_free_ char *started = words_time(run->started);
	_cleanup_free_ char *threads = words_count(run->observations.nthreads, "thread", "threads");

	printf("Run %llu of campaign %llu: %s, %s\n", (unsigned long long)run->number,
	       (unsigned long long)campaign->number, run->label == LABEL_FAIL ? "failed" : "passed", how);
	printf("  program  %s\n", command);
	if (*reason)
		printf("  reason   %s\n", reason);
	printf("  started  %s", started);
	if (run->jitter_us)
		printf(", random delays up to %u us", run->jitter_us);
	if (run->schedule.nturns)
		printf(", controlled (%s), %zu turns", schedule_policy_name(run->schedule.policy),
		       run->schedule.nturns);
	printf("\n  took     %s (CPU %s), %s", wall, cpu, threads);
	if (run->observations.nprocesses > 1)
		printf(" in %u processes", run->observations.nprocesses);
	printf(", %llu KiB\n", (unsigned long long)run->peak_kib);
	if (run->settings.machine) {
		_cleanup_free_ char *machine = words_machine(run->observations.machine, 11);

		printf("  machine  %s\n", machine);
	}
	if (run->observations.dropped)
		printf("  missing  %llu observations that found no room\n",
		       (unsigned long long)run->observations.dropped);
	if (run->label == LABEL_FAIL && run->output && *run->output)
		print_output(run->output, whole);
}

static void print_section(const char *title, size_t n, const char *none)
{
	if (n)
		printf("\n%s (%zu):\n", title, n);
	else
		printf("\n%s\n", none);
}

static void print_rest(const struct run *run, const struct show_options *options)
{
	_cleanup_free_ char *predecessors =
		words_count(run->observations.npredecessors, "predecessor", "predecessors");
	_cleanup_free_ char *edges = words_count(run->observations.nedges, "edge", "edges");
	_cleanup_free_ char *option = words_store_option(options->store);

	printf("\nAlso %s and %s; to see them:\n  unsnarl show %llu%s --predecessors | --edges | --all\n",
	       predecessors, edges, (unsigned long long)run->number, option);
}

static void print_observations(struct listing *listing, const struct run *run,
			       const struct show_options *options)
{
	const struct observations *seen = &run->observations;
	bool chosen = options->pairs || options->predecessors || options->edges || options->all;

	if (options->all || options->pairs || !chosen) {
		print_section("Pairs, in order of first occurrence", seen->npairs, "No pairs were recorded.");
		listing_pairs(listing, seen->pairs, seen->npairs, options->all);
		listing_print(listing, stdout);
	}
	if (options->all || options->predecessors) {
		print_section("Predecessors: the last access by another thread", seen->npredecessors,
			      "No predecessors were recorded.");
		listing_predecessors(listing, seen->predecessors, seen->npredecessors);
		listing_print(listing, stdout);
	}
	if (options->all || options->edges) {
		print_section("Edges from last writer to reader or writer, with contexts", seen->nedges,
			      "No edges were recorded.");
		listing_edges(listing, seen->edges, seen->nedges);
		listing_print(listing, stdout);
	}
	if (!chosen)
		print_rest(run, options);
}

static void print_text(struct store *store, const struct run *run, const struct campaign *campaign,
		       const struct show_options *options)
{
	struct listing listing = { .store = store, .width = text_columns() };
	_cleanup_free_ char *program = memory_string(campaign->program);

	listing.excerpts.folder = memory_string(dirname(program));
	print_head(run, campaign, options->all);
	print_observations(&listing, run, options);
	const char *changed = excerpt_changed(&listing.excerpts, run->started);

	if (changed) {
		_cleanup_free_ char *path = text_path(changed);

		printf("\nNote: %s was changed after this run; its lines are shown as they are now.\n", path);
	}
	listing_free(&listing);
}

static void print_json(struct store *store, const struct run *run, const struct campaign *campaign,
		       const struct show_options *options)
{
	const struct observations *seen = &run->observations;
	bool whole = options->all || !(options->pairs || options->predecessors || options->edges);
	unsigned events = words_context_events(seen->edges, seen->nedges);
	json_t *answer = answer_new("show"), *head = answer_campaign(campaign), *array;

	json_object_update(answer, head);
	json_decref(head);
	head = answer_run(run);
	json_object_set_new(head, "output", answer_text(run->output));
	json_object_update(answer, head);
	json_decref(head);
	if (whole || options->pairs) {
		json_object_set_new(answer, "pairs", array = json_array());
		for (size_t i = 0; i < seen->npairs; i++)
			json_array_append_new(array, answer_pair(store, &seen->pairs[i]));
	}
	if (whole || options->predecessors) {
		json_object_set_new(answer, "predecessors", array = json_array());
		for (size_t i = 0; i < seen->npredecessors; i++)
			json_array_append_new(array, answer_predecessor(store, &seen->predecessors[i]));
	}
	if (whole || options->edges) {
		json_object_set_new(answer, "edges", array = json_array());
		for (size_t i = 0; i < seen->nedges; i++)
			json_array_append_new(array, answer_edge(store, &seen->edges[i], events));
	}
	answer_print(answer);
}

struct error *show_run(struct store *store, const struct show_options *options, uint64_t number)
{
	_cleanup_(run_free) struct run run = { 0 };
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	uint64_t campaign;

	TRY(store_run(store, number, &run, &campaign));
	TRY(cmds_campaigns(store, campaign, &campaigns));
	if (options->campaign && options->campaign != campaign)
		return error_new("run %llu belongs to campaign %llu, not %llu", (unsigned long long)number,
				 (unsigned long long)campaign, (unsigned long long)options->campaign);
	(options->json ? print_json : print_text)(store, &run, &campaigns.items[0], options);
	return NULL;
}
