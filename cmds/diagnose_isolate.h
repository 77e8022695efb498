/* isolate as one of those whom diagnose asks. */
#ifndef CMDS_DIAGNOSE_ISOLATE_H
#define CMDS_DIAGNOSE_ISOLATE_H

#include "diagnose/diagnosis.h"

/* Adds what isolate says of a crash of the program, in `seconds` about; nothing when it does not crash. */
struct error *cmds_isolate_opinion(struct diagnosis *diagnosis, double seconds, struct opinion *opinion);

#endif
