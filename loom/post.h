/* Reports on their way from a worker to its parent. Those that the parent does not wait for
 * travel together: to wake it for each would take longer than to write them all. */
#ifndef LOOM_POST_H
#define LOOM_POST_H

#include <stdbool.h>
#include <stddef.h>

#include "loom/worker.h"

struct post {
	int socket;
	char *bytes; /* reports that are not sent yet: WORKER_MESSAGE_SIZE */
	size_t n, size;
	double since; /* when the first of them came */
	bool broken;  /* nothing can be sent any more */
};

void post_open(struct post *post, int socket);

/* Takes a report with its texts, NULL = none, and a descriptor, -1 = none; completes it by their
 * sizes. Sends what is there when it is enough, has waited long enough or has a descriptor. */
void post_put(struct post *post, struct worker_report *report, const char *reason, const char *output,
	      int area);

/* Sends what is there. */
void post_send(struct post *post);

#endif
