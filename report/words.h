/* The model in words: how a run ended, what a context is, which access a site
 * makes. The same words everywhere on the terminal and in JSON.
 */
#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H

#include <stdint.h>

#include "model/run.h"
#include "model/site.h"

/* Fresh strings, free of control characters only where the model's are. */
char *words_ended(const struct run *run);         /* "exit 0", "SIGABRT", "hung", "deadlock" */
const char *words_fault(enum memory_fault fault); /* "use after free", "double free" … */
char *words_signal(int number);                   /* "SIGABRT", "signal 40" */
char *words_seconds(double seconds);              /* "0.012 s", "3.1 s", "2 min 5 s" */
char *words_time(int64_t microseconds);           /* "2026-01-31 12:00:00", local */
char *words_store_option(const char *store);      /* " --store DIR" for commands; "" of the usual one */
char *words_count(uint64_t n, const char *one, const char *many); /* "1 run", "2 runs" */

struct campaign;
/* The command line of a campaign, for people; on a terminal it is cut so that
 * `beside` more columns fit on its line. */
char *words_command(const struct campaign *campaign, int beside);

/* "LcRd RmWr", oldest event first; "-" when there was none. `events` is how many
 * the run kept: only with 8 does it matter (model/run.h). */
char *words_context(uint16_t context, unsigned events);
/* How many events the run kept, judged by these contexts: the most that any holds. */
unsigned words_context_events(const struct edge *edges, size_t n);

const char *words_label(enum label label);       /* "pass", "fail" */
const char *words_outcome(enum outcome outcome); /* "exit", "signal", "timeout", "deadlock" … */
const char *words_pair(enum pair_kind kind);     /* "write-read" … */
/* What the ends of a pair do; an atomic update does both, and is called that. */
const char *words_head(enum pair_kind kind, const struct site *site);
const char *words_tail(enum pair_kind kind, const struct site *site);
const char *
words_site(const struct site *site); /* "read", "write", …; "call" of a function that synchronises */

/* What simulated machines counted: "1234 accesses to lines, 0 traps; in 10,000 accesses …", on several
 * lines of which the further ones are indented. */
char *words_machine(const uint64_t counts[MACHINE_COUNTS], unsigned indent);

#endif
