/* unsnarl rank --compare: what another way of seeing the same program misses, such as
 * the simulated machine against whole-memory tracking. The other runs are in the same
 * campaign or in another store.
 */
#include "cmds/rank_parts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/bugaboo/imprecision.h"
#include "base/memory.h"
#include "cmds/cmds.h"
#include "report/answer.h"
#include "report/grid.h"
#include "report/text.h"

static bool same_arguments(char *const *a, char *const *b)
{
	for (; *a && *b; a++, b++)
		if (strcmp(*a, *b))
			return false;
	return !*a && !*b;
}

/* The campaign of the same build with the same arguments in another store. */
static struct error *find_campaign(struct store *other, const char *folder, const struct campaign *like,
				   uint64_t *number)
{
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };

	TRY(cmds_campaigns(other, 0, &campaigns));
	for (size_t i = 0; i < campaigns.n; i++)
		if (campaigns.items[i].build == like->build &&
		    same_arguments(campaigns.items[i].arguments, like->arguments)) {
			*number = campaigns.items[i].number;
			return NULL;
		}
	return error_new("the store %s has no runs of this build of %s with these arguments", folder,
			 like->program);
}

static double percent(size_t part, size_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static json_t *size_json(const struct graph_size *size)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "nodes", answer_count(size->nodes), "edges",
			 answer_count(size->edges), "sites", answer_count(size->sites),
			 "edges_without_context", answer_count(size->bare_edges));
}

static const char *how_seen(const struct graphs *graphs)
{
	return graphs->machine ? "on a simulated machine" : graphs->line ? "by cache lines" : "exact";
}

static void print_json(const struct graphs *graphs, const struct graphs *other,
		       const struct campaign *campaign, const struct imprecision *found)
{
	json_t *answer = answer_new("rank"), *head = answer_campaign(campaign), *missed = json_array();

	json_object_update(answer, head);
	json_decref(head);
	for (size_t i = 0; i < found->missed; i++) {
		const struct code_point *place = &graphs->points.items[found->missed_points[i]];
		json_t *object = json_object();

		json_object_set_new(object, "file", answer_text(place->file));
		json_object_set_new(object, "line", json_integer(place->line));
		json_object_set_new(object, "column", json_integer(place->column));
		json_object_set_new(object, "function", answer_text(place->function));
		json_array_append_new(missed, object);
	}
	json_object_set_new(answer, "points", answer_count(found->points));
	json_object_set_new(answer, "missed", answer_count(found->missed));
	json_object_set_new(answer, "missed_percent", json_real(percent(found->missed, found->points)));
	json_object_set_new(answer, "extra", answer_count(found->extra));
	json_object_set_new(answer, "edges", answer_count(found->edges));
	json_object_set_new(answer, "missed_edges", answer_count(found->missed_edges));
	json_object_set_new(answer, "extra_edges", answer_count(found->extra_edges));
	json_object_set_new(answer, "missed_points", missed);
	json_object_set_new(answer, "seen", json_string(how_seen(graphs)));
	json_object_set_new(answer, "other_seen", json_string(how_seen(other)));
	json_object_set_new(answer, "graph", size_json(&found->whole));
	json_object_set_new(answer, "other_graph", size_json(&found->lossy));
	answer_print(answer);
}

static void print_text(const struct graphs *graphs, const struct graphs *other,
		       const struct imprecision *found)
{
	static const struct grid_column columns[] = { { "", false, false },
						      { "here", true, false },
						      { "missed there", true, false },
						      { "only there", true, false },
						      { 0 } };
	struct grid grid = { .columns = columns };

	printf("Here: %zu runs, %s. There: %zu runs, %s.\n", graphs->passed.n + graphs->failed.n,
	       how_seen(graphs), other->passed.n + other->failed.n, how_seen(other));
	grid_cell(&grid, "communicating code points");
	grid_cell(&grid, "%zu", found->points);
	grid_cell(&grid, "%zu (%.1f %%)", found->missed, percent(found->missed, found->points));
	grid_cell(&grid, "%zu", found->extra);
	grid_cell(&grid, "edges between them");
	grid_cell(&grid, "%zu", found->edges);
	grid_cell(&grid, "%zu (%.1f %%)", found->missed_edges, percent(found->missed_edges, found->edges));
	grid_cell(&grid, "%zu", found->extra_edges);
	grid_print(&grid, stdout, 2, 0);
	grid_free(&grid);
	if (found->missed)
		printf("\nMissed there:\n");
	for (size_t i = 0; i < found->missed; i++) {
		const struct code_point *place = &graphs->points.items[found->missed_points[i]];
		_cleanup_free_ char *path = text_path(place->file);
		_cleanup_free_ char *function = text_clean(place->function);
		_cleanup_free_ char *variable = text_clean(place->variable);

		printf("  %s:%u:%u %s%s%s\n", path, place->line, place->column, function,
		       *variable ? ", " : "", variable);
	}
}

enum graphs_way rank_compare_way(const char *with)
{
	return !strcmp(with, "line") ? WAY_LINE : !strcmp(with, "machine") ? WAY_MACHINE : WAY_ANY;
}

/* The other runs. `other` is the store that holds them when it is not the same one. */
static struct error *load_others(struct store *store, const struct campaign *campaign, const char *with,
				 struct store **other, struct graphs *out)
{
	enum graphs_way way = rank_compare_way(with);
	uint64_t number;

	if (way == WAY_ANY) {
		TRY(store_open(with, false, other));
		TRY(find_campaign(*other, with, campaign, &number));
		return graphs_load(*other, number, NULL, 0, WAY_ANY, out);
	}
	TRY(graphs_load(store, campaign->number, NULL, 0, way, out));
	if (out->passed.n + out->failed.n)
		return NULL;
	return error_new(
		"no run of campaign %llu was recorded with --%s; unsnarl run --%s -- %s records some",
		(unsigned long long)campaign->number, way == WAY_MACHINE ? "machine" : "granularity line",
		way == WAY_MACHINE ? "machine" : "granularity line", campaign->program);
}

struct error *rank_compare_runs(struct store *store, const struct graphs *graphs, const char *with, bool json)
{
	_cleanup_(store_closep) struct store *other = NULL;
	_cleanup_(graphs_free) struct graphs lossy = { 0 };
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	struct imprecision found;

	TRY(cmds_campaigns(store, graphs->campaign, &campaigns));
	if (!graphs->passed.n && !graphs->failed.n)
		return error_new("no run of campaign %llu was recorded with exact edges; unsnarl run -- %s "
				 "records some",
				 (unsigned long long)graphs->campaign, campaigns.items[0].program);
	TRY(load_others(store, &campaigns.items[0], with, &other, &lossy));
	imprecision_measure(graphs, &lossy, &found);
	if (json)
		print_json(graphs, &lossy, &campaigns.items[0], &found);
	else
		print_text(graphs, &lossy, &found);
	free(found.missed_points);
	return NULL;
}
