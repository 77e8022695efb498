/* The ranking without labels. An edge is rare when few of the runs show it in which
 * both of its ends ran at all; it is the rarer, the less context it takes to say so.
 * A code point stands where its rarest edge puts it. Code that runs in few runs only,
 * such as what a program does after it has failed, is not rare by that alone.
 */
#include "analysis/bugaboo/rank.h"

#include <stdlib.h>

#include "analysis/bugaboo/rarity.h"

struct rare {
	const struct rank_input *input;
	const struct graph *graph;
	uint32_t *edge_runs;   /* graphs that have the edge */
	uint32_t *summed_runs; /* the same for its projections to all lengths of context, added up */
	uint8_t *depths;       /* least context with which it is in few graphs only */
	uint32_t *ran;         /* runs in which each code point ran */
};

/* Runs that show each projected edge, for one length of context. */
static void count_projected(struct rare *r, const uint32_t *numbers, size_t n, unsigned events)
{
	_cleanup_free_ uint32_t *runs = memory_alloc(n * sizeof *runs + 1);
	_cleanup_free_ uint32_t *stamp = memory_alloc(n * sizeof *stamp + 1);
	size_t few = r->input->nfailed / 5 ? r->input->nfailed / 5 : 1;

	for (size_t i = 0; i < r->input->nfailed; i++) {
		roaring_uint32_iterator_t at;

		for (roaring_init_iterator(r->input->failed[i], &at);
		     at.has_value && at.current_value < r->graph->nedges;
		     roaring_advance_uint32_iterator(&at)) {
			uint32_t number = numbers[at.current_value];

			runs[number] += stamp[number] != i + 1;
			stamp[number] = (uint32_t)i + 1;
		}
	}
	for (size_t i = 0; i < r->graph->nedges; i++) {
		r->summed_runs[i] += runs[numbers[i]];
		if (events == r->graph->events)
			r->edge_runs[i] = runs[numbers[i]];
		if (runs[numbers[i]] <= few)
			r->depths[i] = (uint8_t)events;
	}
}

/* Runs in which each point ran: as far as is known, at least where it communicated. */
static void count_ran(struct rare *r)
{
	const struct rank_input *input = r->input;
	_cleanup_free_ uint32_t *stamp = memory_alloc(r->graph->npoints * sizeof *stamp + 1);

	for (size_t i = 0; i < input->nfailed; i++) {
		roaring_uint32_iterator_t at;

		for (roaring_init_iterator(input->failed[i], &at);
		     at.has_value && at.current_value < r->graph->nedges;
		     roaring_advance_uint32_iterator(&at))
			GRAPH_EACH_POINT(r->graph, at.current_value, point)
			{
				r->ran[point] += stamp[point] != i + 1;
				stamp[point] = (uint32_t)i + 1;
			}
	}
	for (uint32_t point = 0; input->ran_failed && point < r->graph->npoints; point++)
		if (input->ran_failed[point] > r->ran[point])
			r->ran[point] = input->ran_failed[point];
}

/* In what part of the runs that could show it does an edge appear, over all lengths? */
static double frequency(const struct rare *r, uint32_t edge)
{
	uint32_t could = UINT32_MAX;

	GRAPH_EACH_POINT(r->graph, edge, point)
	could = r->ran[point] < could ? r->ran[point] : could;
	return (double)r->summed_runs[edge] / ((double)could * (r->graph->events + 1));
}

static void list_points(const struct rare *r, const struct rarity *rarities, struct rank_result *out)
{
	struct rank_point *points = memory_alloc(r->graph->npoints * sizeof *points + 1);

	for (uint32_t edge = 0; edge < r->graph->nedges; edge++) {
		if (!r->edge_runs[edge])
			continue;
		double rare = 1 - frequency(r, edge);

		out->odd_edges += r->depths[edge] != GRAPH_USUAL;
		GRAPH_EACH_POINT(r->graph, edge, at)
		{
			struct rank_point *point = &points[at];

			if (!point->runs || rare > point->score) {
				point->score = rare;
				point->odd = edge;
				point->runs = point->odd_runs = r->edge_runs[edge];
				point->depth = point->odd_depth = r->depths[edge];
			}
			if (r->edge_runs[edge] > point->usual_runs) {
				point->usual = edge;
				point->usual_runs = r->edge_runs[edge];
			}
		}
	}
	for (uint32_t at = 0; at < r->graph->npoints; at++) {
		if (!points[at].runs)
			continue;
		points[at].point = at;
		points[at].rarity = rarities[at].rank;
		points[at].contexts = rarities[at].contexts;
		if (r->input->order == RANK_PAPER)
			points[at].score = 1 - rarities[at].rank;
		*VEC_PUSH(&out->points) = points[at];
	}
	free(points);
	if (out->points.n)
		qsort(out->points.items, out->points.n, sizeof *out->points.items, rank_compare);
}

void rank_unlabelled(const struct rank_input *input, struct rank_result *out)
{
	const struct graph *graph = input->graph;
	_cleanup_free_ uint32_t *numbers = memory_alloc(graph->nedges * sizeof *numbers + 1);
	_cleanup_free_ uint32_t *edge_runs = memory_alloc(graph->nedges * sizeof *edge_runs + 1);
	_cleanup_free_ uint32_t *summed_runs = memory_alloc(graph->nedges * sizeof *summed_runs + 1);
	_cleanup_free_ uint8_t *depths = memory_alloc(graph->nedges + 1);
	_cleanup_free_ uint32_t *ran = memory_alloc(graph->npoints * sizeof *ran + 1);
	_cleanup_free_ struct rarity *rarities = rarity_of_points(graph, input->failed, input->nfailed, NULL);
	struct rare r = { input, graph, edge_runs, summed_runs, depths, ran };

	*out = (struct rank_result){ 0 };
	for (size_t i = 0; i < graph->nedges; i++)
		depths[i] = GRAPH_USUAL;
	for (unsigned events = graph->events + 1; events-- > 0;)
		count_projected(&r, numbers, graph_project(graph, events, numbers), events);
	count_ran(&r);
	list_points(&r, rarities, out);
}
