/* The graphs of a campaign out of the store, ready to be ranked: edges, code points
 * and functions with their names, and the runs' sets, passed and failed apart. */
#ifndef ANALYSIS_BUGABOO_CAMPAIGN_H
#define ANALYSIS_BUGABOO_CAMPAIGN_H

#include "analysis/bugaboo/graph.h"
#include "analysis/bugaboo/rank.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

/* A code point: one position in the source. Strings belong to the store. */
struct code_point {
	const char *file, *function, *variable;
	uint32_t line, column; /* 0: not known; then it stands for what a function does */
	uint32_t site;         /* one of its sites */
	uint32_t function_number;
};

/* What a run executed, communicating or not. */
struct graphs_executed {
	bool failed;
	roaring_bitmap_t *predecessors;
};

/* How edges were seen. */
enum graphs_way { WAY_ANY, WAY_WORD, WAY_LINE, WAY_MACHINE };

struct graphs {
	uint64_t campaign;
	size_t skipped; /* runs left out because they were observed otherwise than the newest */
	int context;    /* events kept; -1 when the store does not say */
	bool line;      /* edges between lines of 64 bytes */
	bool machine;   /* as the caches of a simulated machine see them */
	struct interned interned;
	struct graph graph;
	VEC(struct code_point) points; /* by number */
	VEC(roaring_bitmap_t *) passed, failed;
	VEC(struct edge_order) orders;          /* of the failed ones */
	VEC(struct point_list) overwrites;      /* of the failed ones, after graphs_find_overwrites */
	VEC(uint64_t) passed_runs, failed_runs; /* their numbers, in the same order */
	VEC(struct graphs_executed) executed;
	uint32_t *ran_passed, *ran_failed; /* runs in which each point ran; NULL when not known */
};

/* Reads the graphs of these runs of the campaign, of all its runs when n is 0; only of those that were
 * seen as the newest failed one, or in this way. The caller frees *out, also after an error. */
struct error *graphs_load(struct store *store, uint64_t campaign, const uint64_t *runs, size_t n,
			  enum graphs_way way, struct graphs *out);
/* Adds edges from nowhere to reads that in failed runs only came before all other threads. Only for
 * rankings with labels: it looks at them. */
struct error *graphs_add_untouched(struct store *store, struct graphs *graphs);
/* Finds the points that in each failed run wrote over what others had read (silent.h). Afterwards edges
 * may only be shortened. */
struct error *graphs_find_overwrites(struct store *store, struct graphs *graphs);
/* Of the points that did so in a run (one byte for each) those that can have done it without an edge; none
 * when they are more than OVERWRITES_MOST, among whom a share would say nothing. The caller frees the
 * list's points. */
#define OVERWRITES_MOST 16u
void overwrites_list(const struct graph *graph, const roaring_bitmap_t *edges, const uint8_t *wrote,
		     struct point_list *out);
/* The point of each interned predecessor's site, GRAPH_NULL when it never communicated; the caller frees
 * them. */
uint32_t *graphs_predecessor_points(const struct graphs *graphs);
/* Numbers nodes and points anew, and counts in which runs the points ran, after edges have changed. */
struct error *graphs_number(struct store *store, struct graphs *graphs);
/* Puts other graphs in the place of the failed ones: edge i belongs to graph graph_of[i], and the edges of
 * a graph stand in order of first occurrence. */
struct error *graphs_replace_failed(struct store *store, struct graphs *graphs, const struct edge *edges,
				    const uint32_t *graph_of, size_t n, size_t ngraphs);
/* As if only `events` of context had been kept: contexts lose their older events, and edges that
 * are then equal become one. */
void graphs_shorten(struct graphs *graphs, unsigned events);
/* What a ranking of them needs; borrows. */
struct rank_input graphs_input(const struct graphs *graphs, enum rank_order order);
void graphs_free(struct graphs *graphs);

#endif
