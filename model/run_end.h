/* How a run ended, apart from what it taught. */
#ifndef MODEL_RUN_END_H
#define MODEL_RUN_END_H

enum outcome {
	OUTCOME_EXIT = 1, /* ended by itself; code = exit status */
	OUTCOME_SIGNAL,   /* killed by a signal; code = signal number */
	OUTCOME_TIMEOUT,  /* still running at the time-out: hung */
	/* The rest is known of controlled runs only. */
	OUTCOME_DEADLOCK,    /* no thread can go on */
	OUTCOME_LOST_WAKEUP, /* a thread waits for a signal that came before it waited */
	OUTCOME_LIVELOCK,    /* it ran on and on without an end */
	OUTCOME_DIVERGED,    /* it could not follow the schedule it was given */
	OUTCOME_SLOW,        /* it was still at work when patience ended: says nothing about the program */
	OUTCOME_MEMORY,      /* an access did not keep to a heap block; code = enum memory_fault */
};
#define OUTCOME_BEYOND (OUTCOME_MEMORY + 1)

enum memory_fault {
	MEMORY_NO_FAULT,
	MEMORY_USE_AFTER_FREE,
	MEMORY_DOUBLE_FREE,
	MEMORY_BEYOND, /* before the first byte of a block or behind the last */
	MEMORY_FAULTS
};

#endif
