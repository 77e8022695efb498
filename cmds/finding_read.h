/* A finding taken out of the JSON answer of a verb. */
#ifndef CMDS_FINDING_READ_H
#define CMDS_FINDING_READ_H

#include <stdint.h>

#include "base/error.h"
#include "model/finding.h"

/* The finding of a rank in an answer, "-" for the standard input; *program is what the answer is about. */
struct error *finding_read(const char *path, uint64_t rank, struct finding *out, char **program);

#endif
