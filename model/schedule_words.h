/* The words that a schedule's text is made of, for its writer (schedule_text.c) and its reader (schedule_parse.c):
 * what one writes the other has to know. */
#ifndef MODEL_SCHEDULE_WORDS_H
#define MODEL_SCHEDULE_WORDS_H

#include "model/schedule.h"

#define SCHEDULE_TITLE "unsnarl schedule"
#define SCHEDULE_VERSION 2

static const char *const schedule_stops[] = { [STOP_LAST] = "last",
				     [STOP_PREEMPTED] = "preempted",
				     [STOP_BLOCKED] = "blocked",
				     [STOP_ENDED] = "ended",
				     [STOP_YIELDED] = "yielded" };
static const char *const schedule_outcomes[OUTCOME_BEYOND] = {
	[OUTCOME_EXIT] = "exit",
	[OUTCOME_SIGNAL] = "signal",
	[OUTCOME_TIMEOUT] = "hung",
	[OUTCOME_DEADLOCK] = "deadlock",
	[OUTCOME_LOST_WAKEUP] = "lost-wakeup",
	[OUTCOME_LIVELOCK] = "livelock",
	[OUTCOME_SLOW] = "slow",
	[OUTCOME_DIVERGED] = "diverged",
	[OUTCOME_MEMORY] = "memory",
};
static const char *const schedule_faults[MEMORY_FAULTS] = { "none", "use-after-free", "double-free", "beyond" };
static const char *const schedule_waits[WAITING_KINDS] = {
	"nothing",   "mutex",    "condition", "read-lock", "write-lock", "barrier",
	"semaphore", "spinlock", "once",      "join",      "address",    "input",
};

#endif
