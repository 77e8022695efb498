/* unsnarl show, shared by its halves: show.c finds out what was asked for,
 * show_run.c tells about a run, show_site.c about sites. Both print to stdout
 * as text or JSON.
 */
#ifndef CMDS_SHOW_H
#define CMDS_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/store.h"

struct show_options {
	uint64_t campaign; /* 0: any */
	const char *store;
	bool pairs, predecessors, edges, all, json;
};

struct error *show_run(struct store *store, const struct show_options *options, uint64_t number);

/* `sites` as they were asked for by `name`, for the sentences. */
struct error *show_sites(struct store *store, const struct show_options *options, const char *name,
			 const uint32_t *sites, size_t n);

#endif
