/* The experiments that decide what of all that is proposed is the cause of a failure. */
#ifndef DIAGNOSE_JUDGE_H
#define DIAGNOSE_JUDGE_H

#include "diagnose/diagnosis.h"

/* Fills diagnosis->causes; `chase` has the workers. Without a traced failure, or when every schedule fails,
 * the opinions are all there is. `most` runs, about; 0: as the time allows. */
struct error *judge(struct diagnosis *diagnosis, struct chase *chase, double deadline, uint64_t most);

#endif
