/* When comparing runs tells nothing: what the forced switches of a failed run point at
 * (struct hint), if a hunt has made its schedule short. Where only a value decides
 * whether an interleaving does harm, passing runs show it too, but the failure still
 * needs its switch. Findings of the same form as the procedures'.
 */
#ifndef ANALYSIS_LOCON_FORCED_H
#define ANALYSIS_LOCON_FORCED_H

#include "analysis/locon/locate_answer.h"
#include "store/store.h"

/* Answers for `run`, by its own claims or those of the newest run of its campaign that ended the same
 * way and has some. *run becomes the one that answered. Nothing when there is none. */
struct error *locon_forced(struct store *store, uint64_t campaign, uint64_t *run,
			   const struct locon_request *request, struct locon_answer *out);

#endif
