/* Which code points to look at first (BUGABOO, section 5). With labels: what each
 * failed graph shows that no passed one does. Without: what few of the runs show.
 *
 * Two orders. RANK_NOVELTY, the default, asks how little context it takes to tell what
 * arrives at a point from the usual: a new partner counts most, one that is new only
 * together with the last five events of both threads counts least. What follows from
 * something odd is odd too (section 6.2.4), so a point counts the less, the more points
 * were as odd before it in the same run in ways that failed runs agree on (agreement.h),
 * and little once the run does what only failed
 * runs do; code that only failed runs execute comes last. Where a write without an edge (silent.h)
 * is among the events that make an edge odd, the points that may have made it count more
 * than the one at which the edge arrives. RANK_PAPER is the formula of section 5,
 * the frequency of a point's contexts among its executions. As printed, the sum over
 * all contexts is 1 for every point; we weight each context's relative frequency by
 * that same frequency, which makes it what the text says: small when a point ran in
 * many rare contexts. */
#ifndef ANALYSIS_BUGABOO_RANK_H
#define ANALYSIS_BUGABOO_RANK_H

#include <stdbool.h>

#include "analysis/bugaboo/graph.h"
#include "base/memory.h"

enum rank_order { RANK_NOVELTY, RANK_PAPER };

/* The edges of a graph in order of first occurrence. */
struct edge_order {
	uint32_t *edges; /* NULL when not known */
	size_t n;
};

/* Code points, each once. */
struct point_list {
	uint32_t *points;
	size_t n;
};

struct rank_input {
	const struct graph *graph;
	/* Graphs of the runs. Without labels all stand in `failed`. */
	const roaring_bitmap_t *const *passed;
	size_t npassed;
	const roaring_bitmap_t *const *failed;
	size_t nfailed;
	const struct edge_order *orders; /* of the failed ones; NULL when none is known */
	/* Of the failed ones, the points that wrote there over what others had read, perhaps without an
	 * edge (silent.h); NULL when not known. */
	const struct point_list *overwrites;
	/* For each code point the number of passed and of failed runs in which it ran, whether or
	 * not it communicated; NULL when only communication is known. */
	const uint32_t *ran_passed, *ran_failed;
	enum rank_order order;
};

struct rank_point {
	uint32_t point;
	double score;      /* 0 to 1, the more the better it explains; points stand in falling order */
	double rarity;     /* the paper's rank: small means many rare contexts */
	uint32_t runs;     /* graphs that show it behave so (failed ones, with labels) */
	uint32_t contexts; /* distinct contexts in which it did */
	unsigned depth;    /* least context that tells it from the usual (graph_depths) */
	bool aftermath;    /* never ran in a passed run: what the program does once it has failed */
	bool silent;       /* what tells most is not an edge here, but one behind a write that may be here */
	uint32_t odd;      /* the edge that tells most, and in how many of the graphs it is */
	uint32_t odd_runs;
	uint32_t harmless;  /* passed graphs that show this edge all the same, with that context */
	unsigned odd_depth; /* context that this edge needs */
	uint32_t usual;     /* the edge at this point that most passed runs have; GRAPH_NULL: none */
	uint32_t usual_runs;
};

struct rank_result {
	VEC(struct rank_point) points; /* the first one is to be inspected first */
	size_t odd_edges;              /* edges that only failed graphs have, or that are rare */
};

/* Failed graphs against what is usual in the passed ones (graph_depths). */
void rank_labelled(const struct rank_input *input, struct rank_result *out);
/* All graphs, in `failed`, against each other. */
void rank_unlabelled(const struct rank_input *input, struct rank_result *out);
void rank_free(struct rank_result *result);
/* For qsort: the order of struct rank_point. Ties stand in the order in which their odd edges
 * were first seen. */
int rank_compare(const void *a, const void *b);

#endif
