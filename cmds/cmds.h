/* The verbs. Each is one file: a page that describes its options, and a function
 * that parses them, calls the rooms below and prints. main.c finds the verb and
 * prints its error, once.
 */
#ifndef CMDS_CMDS_H
#define CMDS_CMDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/options.h"
#include "store/store.h"

#define CMDS_STORE ".unsnarl" /* where runs are kept unless --store says otherwise */

struct verb {
	const struct options_page *page;
	/* argv[0] is the verb. *status is 0 before the call; an error makes it 2. */
	struct error *(*main)(int argc, char **argv, int *status);
	bool hidden; /* not in the list of verbs */
};

extern const struct verb verb_diagnose, verb_cc, verb_cxx, verb_run, verb_hunt, verb_replay, verb_runs,
	verb_show, verb_locate, verb_rank, verb_scan, verb_verify, verb_exec, verb_help;

/* All verbs, NULL-terminated. */
extern const struct verb *const cmds_verbs[];
/* NULL when there is none of that name. */
const struct verb *cmds_find(const char *name);
/* A sentence with the nearest verb there is. */
struct error *cmds_unknown(const char *name);

/* Names of the OBSERVE_* bits, in their order, for OPTIONS_WORDS. */
extern const char *const cmds_observers[];
/* --store DIR for every verb that reads or writes one; `type` has a member `store`. */
#define CMDS_STORE_ENTRY(type)             \
	{ .name = "store",                 \
	  .value = "DIR",                  \
	  .kind = OPTIONS_STRING,          \
	  .offset = offsetof(type, store), \
	  .help = "folder that holds the recorded runs (default " CMDS_STORE ")" }
#define CMDS_JSON_ENTRY(type)             \
	{ .name = "json",                 \
	  .kind = OPTIONS_FLAG,           \
	  .offset = offsetof(type, json), \
	  .help = "answer with a JSON object on stdout" }

/* What makes a run fail, for the verbs that run programs; `type` has members `timeout_s`, `check`, `expect`. */
#define CMDS_VERDICT_ENTRIES(type)                                                                         \
	{ .name = "timeout",                                                                               \
	  .value = "S",                                                                                    \
	  .kind = OPTIONS_SECONDS,                                                                         \
	  .offset = offsetof(type, timeout_s),                                                             \
	  .help = "a run that lasts longer has hung and failed (default 10 seconds; 0: wait for ever)" },  \
		{ .name = "check",                                                                         \
		  .value = "CMD",                                                                          \
		  .kind = OPTIONS_STRING,                                                                  \
		  .offset = offsetof(type, check),                                                         \
		  .help = "shell command that reads what the program printed; the run passes if it exits " \
			  "with 0" },                                                                      \
		{ .name = "expect",                                                                        \
		  .value = "FILE",                                                                         \
		  .kind = OPTIONS_STRING,                                                                  \
		  .offset = offsetof(type, expect),                                                        \
		  .help = "the run passes if the program prints exactly what is in FILE" }
/* `type` has a member `context`. */
#define CMDS_CONTEXT_ENTRY(type)             \
	{ .name = "context",                 \
	  .value = "N",                      \
	  .kind = OPTIONS_NUMBER,            \
	  .offset = offsetof(type, context), \
	  .high = 8,                         \
	  .help = "events of context on edges, 0 to 8 (default 5)" }

#define CMDS_INTERRUPTED 130 /* exit status */
/* Ctrl-C, a hang-up and a plain kill are noted from now on. */
void cmds_catch_interrupts(void);
bool cmds_interrupted(void);
double cmds_now(void);          /* seconds of a clock that only goes forward */
uint64_t cmds_processors(void); /* that we may use */
uint64_t cmds_seed(void);       /* a new one, small enough to type */

/* A list of campaigns; releases itself with _cleanup_(cmds_campaigns_free). */
struct cmds_campaigns {
	struct campaign *items;
	size_t n;
};
/* The campaigns of a store, oldest first; only number `only` unless that is 0. */
struct error *cmds_campaigns(struct store *store, uint64_t only, struct cmds_campaigns *out);
/* Orders them by their last run, the most recent first. */
struct error *cmds_campaigns_recent(struct store *store, struct cmds_campaigns *campaigns);
void cmds_campaigns_free(struct cmds_campaigns *campaigns);
/* The command line of a campaign, for people; on a terminal it is cut so that
 * `beside` more columns fit on its line. */
char *cmds_command(const struct campaign *campaign, int beside);

#endif
