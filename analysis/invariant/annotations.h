/* Annotations (AI, section 3.4.2; include/unsnarl.h) and what they ask for: a set for some
 * accesses only, computed anew, since an access that is not guarded is not on record and
 * must not count as a predecessor. */
#ifndef ANALYSIS_INVARIANT_ANNOTATIONS_H
#define ANALYSIS_INVARIANT_ANNOTATIONS_H

#include "analysis/invariant/training.h"

/* Which of the training's places are marked in the source by function or lines, or were seen at a marked
 * address: chosen[number]. Returns how many. */
size_t annotations_choose(const struct training *training, bool *chosen);

/* Sets of the chosen places alone, from traces of passing runs. */
struct recomputed {
	struct guard_set set; /* numbers are the training's; places that are not chosen have empty sets */
	uint64_t runs, quiet; /* runs taken in; of these since the last that taught something */
};

void recomputed_start(struct recomputed *recomputed, const struct training *training);
void recomputed_free(struct recomputed *recomputed);
/* Takes in one traced run that passed. */
void recomputed_add(struct recomputed *recomputed, struct training *training, const bool *chosen,
		    const struct observations *traced, const struct atlas *atlas);

#endif
