/* Candidates in the light of recorded runs. */
#ifndef CMDS_OBSERVED_H
#define CMDS_OBSERVED_H

#include "base/error.h"
#include "static/static.h"

/* Ranks the candidates anew when the store in `folder` holds runs of the program: what no run saw shared goes
 * last. Does nothing when there is no store. */
struct error *observed_rank(const char *folder, const char *program, struct scan *scan);

#endif
