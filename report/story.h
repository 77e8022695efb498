/* A schedule told as a story: which thread ran when, what it did to the data of
 * others, where it was stopped, and in the end who waits for whom. */
#ifndef REPORT_STORY_H
#define REPORT_STORY_H

#include <jansson.h>
#include <stdio.h>

#include "model/atlas.h"
#include "model/run.h"
#include "model/schedule.h"

struct story {
	struct atlas *atlas; /* knows the sites */
	const struct schedule *schedule;
	const struct observations *traced; /* the same run with its trace; NULL = not known */
	bool found;                        /* the schedule is as it was found, nobody has made it short */
};

void story_print(const struct story *story, FILE *out);
/* Only the end: the cycle of a deadlock, the missed signal. Prints nothing when
 * no thread waits. */
void story_print_waits(const struct story *story, FILE *out);

/* Only the end of a run with a memory fault; nothing for other runs. */
void story_print_fault(const struct story *story, FILE *out);
void story_json_fault(const struct story *story, json_t *accesses);

/* "a.c:12 in main", and its line below it. */
char *story_place(const struct story *story, uint64_t id);
void story_print_line(const struct story *story, uint64_t id, FILE *out);
/* An entry for what a thread did at a site, if that is known. */
void story_add_access(json_t *array, const struct story *story, uint32_t thread, const char *kind,
		      uint64_t id);

/* The turns and who waits for what, as JSON. */
json_t *story_json_turns(const struct story *story);
json_t *story_json_waits(const struct story *story);

#endif
