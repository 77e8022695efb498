/* Which of the failed runs that ended the same way is explained best. */
#ifndef ANALYSIS_LOCON_VOTE_H
#define ANALYSIS_LOCON_VOTE_H

#include "store/store.h"

struct locon_vote {
	uint64_t run; /* to be explained */
	size_t asked,
		alike; /* runs that were looked at; those with the same explanation, 0: none that enough share */
};

/* Whose explanation it is, given each one's (0 = none); 0, and nobody alike, when too few agree. */
size_t locon_count(const uint64_t *said, size_t asked, size_t *alike);

/* Looks at `run` and at some others of its campaign that ended as it did, for some seconds at most. */
struct error *locon_vote(struct store *store, uint64_t campaign, uint64_t run, struct locon_vote *out);

#endif
