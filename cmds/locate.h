/* unsnarl locate, shared by its halves: locate.c chooses the runs and prints the
 * findings, locate_study.c compares with Falcon and studies the number of runs.
 */
#ifndef CMDS_LOCATE_H
#define CMDS_LOCATE_H

#include <limits.h>

#include "analysis/locon/locate_answer.h"
#include "analysis/locon/gather.h"

#define LOCATE_ANY UINT_MAX

struct locate_options {
	unsigned procedure, level; /* places of the words; LOCATE_ANY */
	uint64_t top;
	const char *store;
	bool falcon, sensitivity, json;
};

struct locon_request locate_request(const struct locate_options *options, const struct locon_data *data);
/* A run's summary. */
struct error *locate_find_run(struct store *store, uint64_t campaign, uint64_t number, struct run *out);

struct error *locate_falcon(struct store *store, const struct locate_options *options,
			    const struct campaign *campaign, const struct run *run, struct locon_data *data,
			    int *status);
struct error *locate_sensitivity(struct store *store, const struct locate_options *options,
				 const struct campaign *campaign, const struct run *run,
				 struct locon_data *data);

#endif
