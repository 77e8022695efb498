/* Testing graphs for the field, and the logs that come back (BUGABOO, section 5,
 * "Post-deployment bug detection"). Formats: doc/formats.md. */
#ifndef ANALYSIS_BUGABOO_DEPLOY_H
#define ANALYSIS_BUGABOO_DEPLOY_H

#include "analysis/bugaboo/campaign.h"

struct deploy_options {
	const char *log;     /* path that monitored programs log to; NULL: the environment names it */
	unsigned threshold;  /* log edges that differ with at most so many events of context */
	uint32_t interval_s; /* length of an interval */
	bool line;
};

/* Writes the union of the passed graphs. *edges and *units tell how large it is. */
struct error *deploy_export(struct store *store, const struct graphs *graphs, const char *path,
			    const struct deploy_options *options, size_t *edges, size_t *units);

/* What a log says: edges, and for each the graph (process and interval) it belongs to. */
struct deploy_log {
	VEC(struct edge) edges;
	VEC(uint32_t) graph_of;
	size_t graphs;    /* intervals of processes */
	size_t processes; /* blocks */
	size_t unknown;   /* entries whose source file the store does not know */
	uint64_t dropped;
	unsigned context;
};

/* Reads a log; believes nothing in it. */
struct error *deploy_read_log(struct store *store, const char *path, struct deploy_log *out);
void deploy_log_free(struct deploy_log *log);

/* Is it a file that begins as a log does? */
bool deploy_is_log(const char *path);

#endif
