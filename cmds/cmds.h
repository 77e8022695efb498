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
#include "loom/launch.h"
#include "store/store.h"

#define CMDS_STORE STORE_USUAL

struct verb {
	const struct options_page *page;
	/* argv[0] is the verb. *status is 0 before the call; an error makes it 2. */
	struct error *(*main)(int argc, char **argv, int *status);
	bool hidden; /* not in the list of verbs */
};

extern const struct verb verb_diagnose, verb_cc, verb_cxx, verb_run, verb_hunt, verb_replay, verb_runs,
	verb_show, verb_locate, verb_rank, verb_exec, verb_help;
extern const struct verb verb_learn, verb_guard, verb_relax, verb_expose, verb_detect;
extern const struct verb verb_scan, verb_slice, verb_verify;
extern const struct verb verb_isolate;

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
/* `type` has a member `unsigned loom`, an enum loom. */
#define CMDS_LOOM_ENTRY(type)                                                                               \
	{ .name = "loom",                                                                                   \
	  .value = "L",                                                                                     \
	  .kind = OPTIONS_WORD,                                                                             \
	  .offset = offsetof(type, loom),                                                                   \
	  .words = cmds_looms,                                                                              \
	  .help = "how to see the program: compiled (by its hooks), binary (as it is, under Valgrind), or " \
		  "any "                                                                                    \
		  "(default: by its hooks if it has some)" }
/* `type` has a member `const char *only`. */
#define CMDS_PROGRAM_ENTRY(type)                                                                        \
	{ .name = "program",                                                                            \
	  .value = "NAME",                                                                              \
	  .kind = OPTIONS_STRING,                                                                       \
	  .offset = offsetof(type, only),                                                               \
	  .help = "when a script or wrapper starts it: look at processes that run a file of this name " \
		  "alone (on "                                                                          \
		  "the binary loom)" }
extern const char *const cmds_looms[];
/* Says on stderr when the program is seen as it is, and what that means. */
/* --program names a file of processes on the binary loom. */
struct error *cmds_check_only(const char *only, enum loom loom);
void cmds_tell_loom(const char *program, enum loom loom);

/* The world that runs start in, for the verbs that run programs; `type` has a member `world`. */
struct cmds_world {
	bool share_files, share_network;
	const char *input;
};
#define CMDS_WORLD_ENTRIES(type)                                                                         \
	{ .name = "input",                                                                               \
	  .value = "FILE",                                                                               \
	  .kind = OPTIONS_STRING,                                                                        \
	  .offset = offsetof(type, world.input),                                                         \
	  .help = "what every run reads from standard input (default: all that comes through unsnarl's " \
		  "own; "                                                                                \
		  "nothing when that is a terminal; - waits for its end however long it takes)" },       \
		{ .name = "share-files",                                                                 \
		  .kind = OPTIONS_FLAG,                                                                  \
		  .offset = offsetof(type, world.share_files),                                           \
		  .help = "runs write to the folders themselves, not to a private view of them that is " \
			  "thrown away" },                                                               \
		{ .name = "share-network",                                                               \
		  .kind = OPTIONS_FLAG,                                                                  \
		  .offset = offsetof(type, world.share_network),                                         \
		  .help = "runs use the network of the machine also when they bind ports by number" }
struct world;
/* Makes the world that the options ask for; reads standard input. */
struct error *cmds_world_open(const char *verb, const struct cmds_world *options, struct world *world);
/* Says on stderr what of it could not be had, and with `wrote` that what was written is gone. */
void cmds_world_tell(const char *verb, const struct world *world, bool wrote);

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

#endif
