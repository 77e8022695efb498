/* What LOCON needs, from the store: a failed run, passing runs of its campaign,
 * and the places of all sites.
 */
#ifndef ANALYSIS_LOCON_GATHER_H
#define ANALYSIS_LOCON_GATHER_H

#include "analysis/locon/locon.h"
#include "store/store.h"

struct locon_data {
	struct locon_input input;
	uint64_t campaign, run;
	uint64_t *passed_runs; /* numbers, in the order of input.passed, oldest first */
	size_t passed_all;     /* there are so many passing runs; the newest are compared */
	size_t passed_empty;   /* passing runs without pairs, which are left out */
	uint64_t dropped;      /* observations that the failed run had no room for */
	const struct site **sites;
	/* What input points to. */
	struct interned interned;
	struct run_pairs failed;
	uint32_t *reference;
	struct run_pairs *detailed; /* of each passing run; NULL: not read */
	struct locon_run *details;
	roaring_bitmap_t **passed, *ran, *ran_passing, *atomic, *frees;
	uint32_t *places;
};

/* Reads all but the passing runs' details. The caller frees it, also after an error. */
struct error *locon_gather(struct store *store, uint64_t run, struct locon_data *out);
/* The passing runs whole, for the finer levels and for Falcon. */
struct error *locon_gather_details(struct store *store, struct locon_data *data);
void locon_data_free(struct locon_data *data);

#endif
