/* Context-aware communication graphs (BUGABOO, section 3.3). All edges that the runs
 * of a campaign showed are numbered once; the graph of a run is a set of these
 * numbers. A node is a site in a context; a code point is a position in the
 * source, which several sites may share (section 5, footnote 2).
 *
 * Pure functions: what a site is and where the sets come from is not known here. */
#ifndef ANALYSIS_BUGABOO_GRAPH_H
#define ANALYSIS_BUGABOO_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include <roaring/roaring.h>

#include "model/run.h"

#define GRAPH_NULL UINT32_MAX /* the null source: no node, no point */

struct graph_node {
	uint32_t site;
	uint32_t point;
	uint16_t context;
};

struct graph {
	const struct edge *edges; /* the caller's */
	size_t nedges;
	unsigned events;          /* of context that the runs kept, judged by what they showed */
	struct graph_node *nodes; /* in order of first occurrence */
	size_t nnodes;
	uint32_t *source, *sink;             /* of each edge: a node, the source may be GRAPH_NULL */
	uint32_t *source_point, *sink_point; /* the same as code points */
	uint32_t *sites;                     /* distinct ones, in rising order */
	size_t nsites;
	uint32_t *point_of; /* code point of each of `sites` */
	size_t npoints;
};

/* Numbers nodes and sites; every site is a code point of its own until graph_points. */
void graph_make(const struct edge *edges, size_t nedges, struct graph *out);
/* points[i] is the code point of graph->sites[i], below npoints. */
void graph_points(struct graph *graph, const uint32_t *points, size_t npoints);
void graph_free(struct graph *graph);

/* Runs the statement behind it for each distinct code point at the ends of an edge. */
#define GRAPH_EACH_POINT(graph, edge, point)                                                              \
	for (uint32_t _end = 0, point; _end < 2; _end++)                                                  \
		if ((point = (_end ? (graph)->sink_point : (graph)->source_point)[edge]) != GRAPH_NULL && \
		    !(_end && point == (graph)->source_point[edge]))

/* The last `events` of a context of a run that kept `kept`. */
uint16_t graph_context(uint16_t context, unsigned kept, unsigned events);

/* Sets of edges. The results are the caller's. */
roaring_bitmap_t *graph_union(const roaring_bitmap_t *const *sets, size_t n);
roaring_bitmap_t *graph_difference(const roaring_bitmap_t *set, const roaring_bitmap_t *without);

/* The edges of a set one by one, in rising order; faster than the library's iterator where many
 * sets are walked with one list. Numbers behind the graph's edges are left out. */
struct edge_list {
	uint32_t *items;
	size_t n, room;
};
void graph_list(const struct graph *graph, const roaring_bitmap_t *set, struct edge_list *out);

/* In how many passed and failed graphs each edge stands; the failed ones themselves. */
struct graph_counts {
	const uint32_t *edge_passed, *edge_failed;
	size_t npassed, nfailed;
	const roaring_bitmap_t *const *failed;
	double mostly; /* share of the failed ones, see graph_depths */
};

/* Depth: with how much context an edge differs from all edges of passed graphs. 0 when its two
 * sites never communicated there in that way at all, k when the last k events of both
 * contexts are needed to tell, GRAPH_USUAL when the edge itself is usual there. What goes wrong may do
 * no harm: one passed graph in GRAPH_SELDOM may have what a share of `mostly` of the failed have; harmless[i],
 * one for each edge, is how many do. looks[i] is the same for edges that look the same with as much
 * context as their depth, below nedges * (events + 1). One byte for each edge; the caller frees it. */
#define GRAPH_USUAL 255u
#define GRAPH_SELDOM 10u
uint8_t *graph_depths(const struct graph *graph, const struct graph_counts *counts, uint32_t *harmless,
		      uint32_t *looks);

/* A number for each edge with the last `events` of its contexts: edges that then look the
 * same have the same one. Returns how many numbers there are. */
size_t graph_project(const struct graph *graph, unsigned events, uint32_t *numbers);

/* Nodes and edges that a set of edges has, with and without context (Table 5). */
struct graph_size {
	size_t nodes, edges, sites, bare_edges;
};
struct graph_size graph_measure(const struct graph *graph, const roaring_bitmap_t *set);

#endif
