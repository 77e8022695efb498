/* What a scan of the program knows of a diagnosis: was the cause among its candidates,
 * and where may the same mistake be once more? */
#ifndef CMDS_DIAGNOSE_CANDIDATES_H
#define CMDS_DIAGNOSE_CANDIDATES_H

#include <stdio.h>

#include "diagnose/diagnosis.h"

/* Says nothing when the store holds no scan of this build. */
struct error *diagnose_tell_candidates(const struct diagnosis *diagnosis, FILE *out);

#endif
