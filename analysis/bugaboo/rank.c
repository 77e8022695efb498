/* The ranking with labels. Looks at every edge of every failed graph once; what is
 * counted is kept per code point, and a stamp tells whether the graph at hand was
 * counted yet. Edges that lead into code which only failed runs reach say nothing
 * about the point at their other end.
 */
#include "analysis/bugaboo/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bugaboo/agreement.h"
#include "analysis/bugaboo/rarity.h"
#include "analysis/bugaboo/silent.h"

/* The access that meets something new is the one to look at; who wrote it did so in passed runs
 * too, most of the time. Counting both alike took 2.2 inspections on the corpus instead of 1.9. */
#define SOURCE 0.01
/* An odd edge counts so much less for another point that was odd before it in the run, with at most
 * two events of context more, in the same way in all failed runs; less for one that only some show so. */
#define EARLIER 8
#define SLACK 2u
/* And behind an edge into the aftermath. */
#define LATE 0.1
/* What is new only by its context, but arrives from before all communication, counts one in so many:
 * it says that the thread had met other things before, not that it met something here. */
#define INITIAL 5u
/* An access counts so much for an edge that is odd by what came after a write without an edge of its own
 * (silent.h); the points that may have made that write share what it would have counted. */
#define WITNESS 0.5
/* Power of the steps of context that an edge does not need: contexts that are new by chance mostly need
 * them all. */
#define STEEP 1.5
/* Share of the failed runs that make up for a passed one which has the same. */
static const double mostly[] = { [RANK_NOVELTY] = 0.5, [RANK_PAPER] = 0.8 };

/* What is counted for a code point. */
struct tally {
	uint32_t stamp; /* graph counted last, + 1 */
	uint32_t runs;  /* graphs with an odd edge here */
	double best;    /* novelty in the graph at hand */
	uint32_t seen;  /* graph in which something odd has arrived here, + 1 */
	/* How much that counts against others, with no more than so many events of context. */
	uint32_t before[CONTEXT_MOST + SLACK + 1];
	double novelty; /* summed over graphs */
	uint32_t depth; /* least of all */
	uint32_t odd, odd_runs;
	uint32_t usual, usual_runs;
	uint32_t told; /* the edge that tells most of a write without an edge here */
	bool odd_at_all, told_at_all, aftermath;
	bool fits; /* `usual` has the point at the same end as `odd` */
};

struct counting {
	const struct rank_input *input;
	const struct graph *graph;
	uint8_t *depths;
	uint32_t *harmless;                /* passed graphs that have what is odd all the same */
	uint32_t *edge_runs, *passed_runs; /* graphs that have the edge */
	uint32_t *agreeing;                /* failed graphs in which it is as odd */
	struct tally *tallies;
	/* The same for all points of the graph at hand, added up. */
	uint64_t before[CONTEXT_MOST + SLACK + 1];
	bool late;                      /* it has reached the aftermath */
	struct silent silent;           /* and the writes among its edges */
	const struct point_list *wrote; /* where there may be others */
	double worth[CONTEXT_MOST + 1]; /* of an edge, by its depth */
	struct rarity *rarities;
};

static void count_edges(uint32_t *counts, const struct graph *graph, const roaring_bitmap_t *const *sets,
			size_t n)
{
	struct edge_list list = { 0 };

	for (size_t i = 0; i < n; i++) {
		graph_list(graph, sets[i], &list);
		for (size_t e = 0; e < list.n; e++)
			counts[list.items[e]]++;
	}
	VEC_FREE(&list);
}

/* An edge into the aftermath says nothing about its other end. */
static bool tells_about(const struct counting *c, uint32_t edge, uint32_t point)
{
	if (c->tallies[point].aftermath)
		return true;
	GRAPH_EACH_POINT(c->graph, edge, other)
	if (c->tallies[other].aftermath)
		return false;
	return true;
}

/* ---- examples and order ---- */

static bool ends_at(const struct counting *c, uint32_t edge, uint32_t point)
{
	return c->graph->sink_point[edge] == point;
}

/* Is edge `a` a better example than `b` of what is odd at this point? */
static bool more_telling(const struct counting *c, uint32_t a, uint32_t b, uint32_t point)
{
	if (ends_at(c, a, point) != ends_at(c, b, point))
		return ends_at(c, a, point);
	if (c->depths[a] != c->depths[b])
		return c->depths[a] < c->depths[b];
	if (c->edge_runs[a] != c->edge_runs[b])
		return c->edge_runs[a] > c->edge_runs[b];
	return a < b;
}

static void choose_odd(struct counting *c)
{
	for (uint32_t edge = 0; edge < c->graph->nedges; edge++) {
		if (c->depths[edge] == GRAPH_USUAL || !c->edge_runs[edge])
			continue;
		GRAPH_EACH_POINT(c->graph, edge, point)
		{
			struct tally *tally = &c->tallies[point];

			if (!tells_about(c, edge, point) ||
			    (tally->odd_at_all && !more_telling(c, edge, tally->odd, point)))
				continue;
			tally->odd_at_all = true;
			tally->odd = edge;
			tally->odd_runs = c->edge_runs[edge];
		}
	}
}

/* What tells of a write without an edge is shown when no edge that arrives there tells more. */
static void choose_told(struct counting *c)
{
	for (uint32_t point = 0; point < c->graph->npoints; point++) {
		struct tally *tally = &c->tallies[point];

		tally->told_at_all &= !tally->odd_at_all || !ends_at(c, tally->odd, point) ||
				      c->depths[tally->told] < c->depths[tally->odd];
		if (!tally->told_at_all)
			continue;
		tally->odd_at_all = true;
		tally->odd = tally->told;
		tally->odd_runs = c->edge_runs[tally->told];
	}
}

/* The edge that most passed runs have, best one at whose same end the point stands. */
static void choose_usual(struct counting *c)
{
	for (uint32_t edge = 0; edge < c->graph->nedges; edge++) {
		if (!c->passed_runs[edge])
			continue;
		GRAPH_EACH_POINT(c->graph, edge, point)
		{
			struct tally *tally = &c->tallies[point];
			bool fits =
				tally->odd_at_all && ends_at(c, edge, point) == ends_at(c, tally->odd, point);

			if (fits == tally->fits ? c->passed_runs[edge] <= tally->usual_runs : tally->fits)
				continue;
			tally->fits = fits;
			tally->usual = edge;
			tally->usual_runs = c->passed_runs[edge];
		}
	}
}

static void list_points(struct counting *c, struct rank_result *out)
{
	for (uint32_t point = 0; point < c->graph->npoints; point++) {
		const struct tally *tally = &c->tallies[point];

		if (!tally->odd_at_all)
			continue;
		double rarity = c->rarities[point].rank;
		const struct tally *at = tally->told_at_all ? &c->tallies[c->graph->sink_point[tally->odd]]
							    : tally; /* where the odd edge arrives */

		*VEC_PUSH(&out->points) = (struct rank_point){
			.point = point,
			.score = c->input->order == RANK_PAPER
					 ? 1 - rarity
					 : pow(tally->novelty / (double)c->input->nfailed, 1 / STEEP),
			.rarity = rarity,
			.runs = tally->runs,
			.contexts = c->rarities[point].contexts,
			.depth = tally->depth,
			.aftermath = c->input->order == RANK_NOVELTY && tally->aftermath,
			.silent = tally->told_at_all,
			.odd = tally->odd,
			.odd_runs = tally->odd_runs,
			.harmless = c->harmless[tally->odd],
			.odd_depth = c->depths[tally->odd],
			.usual = at->usual_runs ? at->usual : GRAPH_NULL,
			.usual_runs = at->usual_runs,
		};
	}
	if (out->points.n)
		qsort(out->points.items, out->points.n, sizeof *out->points.items, rank_compare);
	for (uint32_t edge = 0; edge < c->graph->nedges; edge++)
		out->odd_edges += c->depths[edge] != GRAPH_USUAL && c->edge_runs[edge];
}

static void counting_free(struct counting *c)
{
	free(c->depths);
	free(c->harmless);
	free(c->edge_runs);
	free(c->passed_runs);
	free(c->agreeing);
	free(c->tallies);
	free(c->rarities);
	silent_free(&c->silent);
}

static struct counting counting_start(const struct rank_input *input)
{
	const struct graph *graph = input->graph;
	struct counting c = { .input = input, .graph = graph };

	c.harmless = memory_alloc(graph->nedges * sizeof *c.harmless + 1);
	c.edge_runs = memory_alloc(graph->nedges * sizeof *c.edge_runs + 1);
	c.passed_runs = memory_alloc(graph->nedges * sizeof *c.passed_runs + 1);
	c.tallies = memory_alloc(graph->npoints * sizeof *c.tallies + 1);
	for (size_t i = 0; i < graph->npoints; i++)
		c.tallies[i].depth = GRAPH_USUAL;
	for (unsigned i = 0; i <= graph->events; i++)
		c.worth[i] = pow(1 - i / (graph->events + 1.0), STEEP);
	silent_make(&c.silent, graph->events);
	count_edges(c.edge_runs, graph, input->failed, input->nfailed);
	count_edges(c.passed_runs, graph, input->passed, input->npassed);
	return c;
}

/* ---- with labels ---- */

static void mark_aftermath(struct counting *c)
{
	_cleanup_free_ uint8_t *ran = memory_alloc(c->graph->npoints + 1);

	if (c->input->ran_passed)
		for (uint32_t point = 0; point < c->graph->npoints; point++)
			ran[point] = c->input->ran_passed[point] > 0;
	for (uint32_t edge = 0; edge < c->graph->nedges; edge++)
		if (c->passed_runs[edge])
			GRAPH_EACH_POINT(c->graph, edge, point)
	ran[point] = 1;
	for (uint32_t point = 0; point < c->graph->npoints; point++)
		c->tallies[point].aftermath = !ran[point] && c->input->npassed;
}

/* Is the edge new only by when its sink read what had been there before all communication? */
static bool only_by_context(const struct counting *c, uint32_t edge)
{
	return c->depths[edge] && agreement_initial(c->graph, edge);
}

/* What an edge counts less for other points that were about as odd before. */
static double came_first(const struct counting *c, const struct tally *tally, uint32_t depth, uint32_t stamp)
{
	uint64_t others =
		c->before[depth + SLACK] - (tally->seen == stamp ? tally->before[depth + SLACK] : 0);

	return 1 / (1 + EARLIER * (double)others / ((double)c->input->nfailed * INITIAL));
}

/* Something of this depth has arrived at the sink of the edge. */
static void note_odd(struct counting *c, uint32_t edge, uint32_t depth, uint32_t stamp)
{
	struct tally *tally = &c->tallies[c->graph->sink_point[edge]];
	uint32_t counts = c->agreeing[edge] * (only_by_context(c, edge) ? 1 : INITIAL);

	GRAPH_EACH_POINT(c->graph, edge, point)
	c->late |= c->tallies[point].aftermath;
	if (tally->aftermath)
		return;
	if (tally->seen != stamp)
		memset(tally->before, 0, sizeof tally->before);
	tally->seen = stamp;
	for (uint32_t i = depth; i <= CONTEXT_MOST + SLACK && tally->before[i] < counts; i++) {
		c->before[i] += counts - tally->before[i];
		tally->before[i] = counts;
	}
}

/* How new the edge makes a point by itself. */
static double edge_novelty(const struct counting *c, uint32_t edge, uint32_t point)
{
	return c->worth[c->depths[edge]] * (ends_at(c, edge, point) ? 1 : SOURCE) /
	       (only_by_context(c, edge) ? INITIAL : 1);
}

/* A point is as novel in this graph as the most that was counted for it. */
static void count_point(struct tally *tally, double novelty, uint32_t depth, uint32_t stamp)
{
	if (tally->stamp != stamp) {
		tally->stamp = stamp;
		tally->runs++;
		tally->best = 0;
	}
	if (novelty > tally->best) {
		tally->novelty += novelty - tally->best;
		tally->best = novelty;
	}
	tally->depth = depth < tally->depth ? depth : tally->depth;
}

/* How many points other than its sink may have made a write without an edge that makes the edge odd. */
static size_t count_silent(const struct counting *c, uint32_t edge)
{
	uint32_t sink = c->graph->sink_point[edge];
	size_t n = 0;

	if (!c->wrote->n || !silent_among(&c->silent, c->graph->edges[edge].sink_context, c->depths[edge]))
		return 0;
	for (size_t i = 0; i < c->wrote->n; i++)
		n += c->wrote->points[i] != sink;
	return n;
}

/* Shares what an edge counts among the points that may have made a write without one. */
static void count_told(struct counting *c, uint32_t edge, double share, uint32_t stamp)
{
	for (size_t i = 0; i < c->wrote->n; i++) {
		struct tally *tally = &c->tallies[c->wrote->points[i]];

		if (ends_at(c, edge, c->wrote->points[i]))
			continue;
		if (!tally->told_at_all || c->depths[edge] < c->depths[tally->told] ||
		    (c->depths[edge] == c->depths[tally->told] &&
		     c->edge_runs[edge] > c->edge_runs[tally->told]))
			tally->told = edge;
		tally->told_at_all = true;
		count_point(tally, share, c->depths[edge], stamp);
	}
}

/* Adds to the points of an edge what it makes them more novel in this graph. */
static void count_edge(struct counting *c, uint32_t edge, bool ordered, uint32_t stamp)
{
	uint32_t depth = c->depths[edge];

	if (depth == GRAPH_USUAL)
		return;
	size_t silent = count_silent(c, edge);

	GRAPH_EACH_POINT(c->graph, edge, point)
	{
		struct tally *tally = &c->tallies[point];

		if (!tells_about(c, edge, point))
			continue;
		double novelty = edge_novelty(c, edge, point);
		bool more = tally->stamp != stamp || novelty > tally->best;

		if (ordered && (more || silent))
			novelty *= (c->late ? LATE : 1) * came_first(c, tally, depth, stamp);
		if (silent && ends_at(c, edge, point)) {
			count_told(c, edge, novelty / (double)silent, stamp);
			novelty *= WITNESS;
		}
		count_point(tally, novelty, depth, stamp);
	}
	note_odd(c, edge, depth, stamp);
}

static void count_graph(struct counting *c, size_t graph)
{
	static const struct point_list nowhere;
	const struct edge_order *order = c->input->orders ? &c->input->orders[graph] : NULL;
	uint32_t stamp = (uint32_t)graph + 1;
	roaring_uint32_iterator_t at;

	memset(c->before, 0, sizeof c->before);
	c->late = false;
	c->wrote = &nowhere;
	if (order && order->edges) {
		silent_begin(&c->silent);
		if (c->input->overwrites && c->input->order == RANK_NOVELTY)
			c->wrote = &c->input->overwrites[graph];
		for (size_t i = 0; i < order->n; i++) {
			if (order->edges[i] >= c->graph->nedges)
				continue;
			count_edge(c, order->edges[i], true, stamp);
			if (c->wrote->n)
				silent_note(&c->silent, &c->graph->edges[order->edges[i]]);
		}
		return;
	}
	for (roaring_init_iterator(c->input->failed[graph], &at);
	     at.has_value && at.current_value < c->graph->nedges; roaring_advance_uint32_iterator(&at))
		count_edge(c, at.current_value, false, stamp);
}

void rank_labelled(const struct rank_input *input, struct rank_result *out)
{
	struct counting c = counting_start(input);

	*out = (struct rank_result){ 0 };
	const struct graph_counts counts = { .edge_passed = c.passed_runs,
					     .edge_failed = c.edge_runs,
					     .npassed = input->npassed,
					     .nfailed = input->nfailed,
					     .failed = input->failed,
					     .mostly = mostly[input->order] };

	_cleanup_free_ uint32_t *looks = memory_alloc(input->graph->nedges * sizeof *looks + 1);

	c.depths = graph_depths(input->graph, &counts, c.harmless, looks);
	c.agreeing = agreement_of_edges(input->graph, c.depths, looks, input->failed, input->nfailed);
	mark_aftermath(&c);
	for (size_t i = 0; i < input->nfailed; i++)
		count_graph(&c, i);
	c.rarities = rarity_of_points(input->graph, input->failed, input->nfailed, c.depths);
	choose_odd(&c);
	choose_told(&c);
	choose_usual(&c);
	list_points(&c, out);
	counting_free(&c);
}

void rank_free(struct rank_result *result)
{
	VEC_FREE(&result->points);
}

int rank_compare(const void *a, const void *b)
{
	const struct rank_point *x = a, *y = b;

	if (x->aftermath != y->aftermath)
		return x->aftermath ? 1 : -1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->odd != y->odd)
		return x->odd < y->odd ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}
