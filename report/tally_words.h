/* The counts of a hunt in words and as JSON. */
#ifndef REPORT_TALLY_WORDS_H
#define REPORT_TALLY_WORDS_H

#include <jansson.h>

#include "model/tally.h"

/* What to say when tally_lacks_choice. */
#define TALLY_NO_CHOICE                                                                                   \
	"the order of threads has no say here: in no schedule was there ever a second thread that could " \
	"have gone on."

/* How a failed schedule ended, as its kind is counted: "deadlock", "wrong output", "exit 1 after an early time-out". */
char *tally_end_words(const struct run *ended);
char *tally_words(const struct tally *tally, uint64_t pairs, double seconds); /* for the bar */
char *tally_join(const struct tally_counts *counts);   /* "2 deadlock, 1 SIGABRT", clean */
json_t *tally_json(const struct tally_counts *counts); /* name → count */

#endif
