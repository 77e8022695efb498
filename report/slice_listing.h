/* What a slice kept, as source: on the terminal, as a page, as JSON. */
#ifndef REPORT_SLICE_LISTING_H
#define REPORT_SLICE_LISTING_H

#include <jansson.h>
#include <stdio.h>

#include "static/static.h"

/* Each file with a mark before each line: '>' the candidate's, '+' kept, '-' dropped, ' ' no code. */
void slice_listing_print(const struct slice_report *report, FILE *out);
struct error *slice_listing_page(const struct slice_report *report, const struct candidate *candidate,
				 const char *path);
json_t *slice_listing_json(const struct slice_report *report);

#endif
