/* A hunt is counted schedule by schedule, as its reports come. */
#ifndef DIAGNOSE_TALLY_SCHEDULE_H
#define DIAGNOSE_TALLY_SCHEDULE_H

#include "loom/steer.h"
#include "model/tally.h"

/* A sentence when the first run shows that there is nothing to hunt in. */
struct error *tally_check(const struct run *first, const char *program);
void tally_add(struct tally *tally, const struct steer_report *report, const char *arm);

#endif
