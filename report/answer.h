/* Answers as JSON (jansson). Strings may come from programs and paths: bytes
 * that are no UTF-8 are replaced, and the text is pure ASCII, so that printing
 * an answer is always possible and always safe.
 */
#ifndef REPORT_ANSWER_H
#define REPORT_ANSWER_H

#include <jansson.h>
#include <stdint.h>

#include "model/run.h"
#include "store/store.h"

#ifndef UNSNARL_VERSION
#define UNSNARL_VERSION "0.1.0"
#endif

/* {"tool","version","command"}; the caller adds to it. */
json_t *answer_new(const char *command);
/* The same with what was run, as which build, and where its runs are recorded. */
json_t *answer_new_of(const char *command, const char *program, char *const *arguments, uint64_t build,
		      const char *store, uint64_t campaign);
/* Prints the answer and a newline to stdout, and releases it. */
void answer_print(json_t *answer);

/* The parts. Those with a store look sites up; an unknown one becomes its number. */
json_t *answer_text(const char *bytes); /* null for NULL */
json_t *answer_count(uint64_t n);
json_t *answer_hex(uint64_t n); /* "0x…", as a string: JSON numbers are too small */
json_t *answer_campaign(const struct campaign *campaign);
json_t *answer_machine(const uint64_t counts[MACHINE_COUNTS]);     /* null when there was no machine */
json_t *answer_run(const struct run *run);                         /* without its observations */
json_t *answer_site(struct store *store, uint32_t number);         /* null for SITE_NIL */
json_t *answer_pair(struct store *store, const struct pair *pair); /* as in a run: with orders */
json_t *answer_predecessor(struct store *store, const struct predecessor *predecessor);
json_t *answer_edge(struct store *store, const struct edge *edge, unsigned events);

#endif
