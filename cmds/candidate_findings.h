/* Candidates of a scan beside findings of runs: the same lines in both words. */
#ifndef CMDS_CANDIDATE_FINDINGS_H
#define CMDS_CANDIDATE_FINDINGS_H

#include "model/finding.h"
#include "static/static.h"

/* What experiments can try of a candidate: an operation with what comes between, or either order of a pair. */
void candidate_findings(const struct candidate *candidate, struct findings *out);

/* Does the finding hold all that the candidate's first thread does, in one of its threads, and something that the
 * second does, in another? Then it is the candidate's mistake, or a larger one that the candidate is a part of. */
bool candidate_is_part_of(const struct candidate *candidate, const struct finding *finding);

#endif
