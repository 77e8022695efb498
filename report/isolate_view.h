/* The answer of isolate in words and as JSON. */
#ifndef REPORT_ISOLATE_VIEW_H
#define REPORT_ISOLATE_VIEW_H

#include <stdio.h>

#include "model/isolation.h"

/* `program` as the user wrote it. */
void isolation_print(struct isolation *isolation, const char *program, FILE *out);
void isolation_json(struct isolation *isolation, const char *program);

#endif
