/* unsnarl runs --curve: distinct pairs, predecessors and edges seen after each
 * run. A curve that has become flat says that more runs of this kind teach
 * nothing new.
 */
#include "cmds/curve.h"

#include <stdlib.h>

#include "base/memory.h"
#include "report/answer.h"
#include "report/plot.h"
#include "report/grid.h"

#define MOST_ROWS 20

void curve_free(struct curve *curve)
{
	free(curve->runs);
	free(curve->pairs);
	free(curve->predecessors);
	free(curve->edges);
	*curve = (struct curve){ 0 };
}

static void membership_unite(struct membership *all, const struct membership *one)
{
	roaring_bitmap_or_inplace(all->pairs, one->pairs);
	roaring_bitmap_or_inplace(all->predecessors, one->predecessors);
	roaring_bitmap_or_inplace(all->edges, one->edges);
}

static struct error *add_run(struct store *store, uint64_t number, struct membership *all,
			     struct curve *curve)
{
	struct membership one = { 0 };

	TRY(store_membership(store, number, &one));
	membership_unite(all, &one);
	membership_free(&one);
	curve->runs[curve->n] = number;
	curve->pairs[curve->n] = roaring_bitmap_get_cardinality(all->pairs);
	curve->predecessors[curve->n] = roaring_bitmap_get_cardinality(all->predecessors);
	curve->edges[curve->n] = roaring_bitmap_get_cardinality(all->edges);
	curve->n++;
	return NULL;
}

struct error *curve_collect(struct store *store, uint64_t campaign, struct curve *out)
{
	struct membership all = { roaring_bitmap_create(), roaring_bitmap_create(), roaring_bitmap_create() };
	struct run *runs = NULL;
	size_t n = 0;
	struct error *error = store_runs(store, campaign, &runs, &n);

	out->runs = memory_alloc(n * sizeof *out->runs);
	out->pairs = memory_alloc(n * sizeof *out->pairs);
	out->predecessors = memory_alloc(n * sizeof *out->predecessors);
	out->edges = memory_alloc(n * sizeof *out->edges);
	for (size_t i = 0; i < n; i++) {
		if (!error)
			error = add_run(store, runs[i].number, &all, out);
		run_free(&runs[i]);
	}
	free(runs);
	membership_free(&all);
	return error;
}

/* Did run i show anything that no run before it had? */
static bool grew(const struct curve *curve, size_t i)
{
	return i == 0 || curve->pairs[i] != curve->pairs[i - 1] ||
	       curve->predecessors[i] != curve->predecessors[i - 1] || curve->edges[i] != curve->edges[i - 1];
}

/* The first run, the last one and between them those that showed something new,
 * thinned evenly when they are too many. */
static size_t choose_rows(const struct curve *curve, size_t rows[MOST_ROWS], bool *thinned)
{
	_cleanup_free_ size_t *wanted = memory_alloc(curve->n * sizeof *wanted);
	size_t n = 0;

	for (size_t i = 0; i < curve->n; i++)
		if (curve->n <= MOST_ROWS || grew(curve, i) || i + 1 == curve->n)
			wanted[n++] = i;
	*thinned = n > MOST_ROWS;
	if (!*thinned) {
		for (size_t i = 0; i < n; i++)
			rows[i] = wanted[i];
		return n;
	}
	for (size_t i = 0; i < MOST_ROWS; i++)
		rows[i] = wanted[i * (n - 1) / (MOST_ROWS - 1)];
	return MOST_ROWS;
}

void curve_print(const struct curve *curve)
{
	static const struct grid_column columns[] = { { .title = "after run", .right = true },
						      { .title = "pairs", .right = true },
						      { .title = "predecessors", .right = true },
						      { .title = "edges", .right = true },
						      { 0 } };
	const struct plot_curve curves[] = { { "pairs", curve->pairs },
					     { "predecessors", curve->predecessors },
					     { "edges", curve->edges } };
	struct grid grid = { .columns = columns };
	bool thinned = false;
	size_t rows[MOST_ROWS], n = curve->n ? choose_rows(curve, rows, &thinned) : 0;

	if (n == 0) {
		printf("  no runs yet\n");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		grid_cell(&grid, "%llu", (unsigned long long)curve->runs[rows[i]]);
		grid_cell(&grid, "%llu", (unsigned long long)curve->pairs[rows[i]]);
		grid_cell(&grid, "%llu", (unsigned long long)curve->predecessors[rows[i]]);
		grid_cell(&grid, "%llu", (unsigned long long)curve->edges[rows[i]]);
	}
	grid_print(&grid, stdout, 2, 0);
	grid_free(&grid);
	if (n < curve->n)
		printf("  (%s)\n",
		       thinned ? "some of the runs; --json gives all" : "the other runs showed nothing new");
	putchar('\n');
	plot_print(curves, 3, curve->n, curve->runs[0], curve->runs[curve->n - 1], stdout);
}

json_t *curve_json(const struct curve *curve)
{
	json_t *array = json_array();

	for (size_t i = 0; i < curve->n; i++)
		json_array_append_new(array,
				      json_pack("{s:o, s:o, s:o, s:o}", "run", answer_count(curve->runs[i]),
						"pairs", answer_count(curve->pairs[i]), "predecessors",
						answer_count(curve->predecessors[i]), "edges",
						answer_count(curve->edges[i])));
	return array;
}
