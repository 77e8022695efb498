/* What functions of libc keep between calls, for all threads alike: their results, or how far they have come. */
#ifndef MODEL_LIBRARY_STATE_H
#define MODEL_LIBRARY_STATE_H

#include <string.h>

enum library_state {
	STATE_TOKEN, /* where strtok goes on */
	STATE_TIME,  /* the time that gmtime and localtime took apart */
	STATE_DATE,  /* the text that asctime and ctime made */
	LIBRARY_STATES
};

/* As variables of the program are named. */
static const char *const library_state_names[LIBRARY_STATES] = { "strtok.position", "localtime.result",
								 "ctime.result" };

/* LIBRARY_STATES: it is a name of something else. */
static inline enum library_state library_state_named(const char *name)
{
	int which = 0;

	while (which < LIBRARY_STATES && strcmp(library_state_names[which], name) != 0)
		which++;
	return (enum library_state)which;
}

#endif
