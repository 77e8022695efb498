/* The answer of isolate in words and as JSON. */
#ifndef ISOLATE_ISOLATE_VIEW_H
#define ISOLATE_ISOLATE_VIEW_H

#include <stdio.h>

#include "isolate/isolate.h"

/* `program` as the user wrote it. */
void isolation_print(struct isolation *isolation, const char *program, FILE *out);
void isolation_json(struct isolation *isolation, const char *program);

#endif
