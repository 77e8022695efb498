/* What a function does to shared memory, in one list: its own accesses, and at its
 * calls those of the functions it calls. */
#ifndef STATIC_EVENTS_H
#define STATIC_EVENTS_H

#include "static/scanner.h"

#define EVENTS_MOST 600u /* of one function */
#define EVENTS_OF_CALL 48u

struct event {
	uint32_t position; /* instruction of the function: the access, or the call that leads to it */
	uint32_t access;
	struct lockset held; /* by the function at that position */
	bool direct;         /* the function's own access */
};

struct events {
	struct scanner *scanner;
	uint32_t function;
	VEC(struct event) items;
	bool **reach; /* by block number: blocks that can be reached from it, made when asked */
	struct control control;
	struct map depends;   /* event index → struct map of what depends on it */
	struct map at_object; /* object → list of indices */
};

void events_start(struct events *events, struct scanner *scanner, uint32_t function);
void events_free(struct events *events);

/* Can the second come after the first? *again when only in another round of a loop. */
bool events_follow(struct events *events, const struct event *first, const struct event *second, bool *again);
/* Does what happens at the second depend on what the first found? */
enum dependence { INDEPENDENT, BY_CONTROL, BY_VALUE };
enum dependence events_depend(struct events *events, const struct event *first, const struct event *second);
/* Is there a way from the first to the second on which a lock is given back, and on which nobody looks at the place
 * again behind that? A loop that waits at a condition for a change looks again. */
bool events_split(struct events *events, const struct event *first, const struct event *second);
/* Is one lock held from the first to the second? */
bool events_one_section(const struct event *first, const struct event *second);

#endif
