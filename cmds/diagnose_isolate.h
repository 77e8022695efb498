/* isolate as one of those whom diagnose asks. */
#ifndef CMDS_DIAGNOSE_ISOLATE_H
#define CMDS_DIAGNOSE_ISOLATE_H

#include "diagnose/diagnosis.h"

/* What isolate comes to from a crash of the program, in `seconds` about. */
struct error *cmds_isolate_opinion(const struct diagnosis *diagnosis, const struct crash_question *question,
				   struct crash_answer *out);

#endif
