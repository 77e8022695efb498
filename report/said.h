/* What a program said before it ended: the last lines of its output. */
#ifndef REPORT_SAID_H
#define REPORT_SAID_H

#include <stdio.h>

/* Prints the last `lines` lines of `output` (may be NULL) behind a bar, cut to 80 columns. */
void said_print(const char *output, int lines, int indent, FILE *out);

#endif
