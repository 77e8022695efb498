/* The parent's end of a worker process: starts it, gives it orders, receives its
 * reports. What the orders are for is its owner's business: pool.c makes series
 * of like runs, steer.c runs chosen schedules. */
#ifndef LOOM_MEMBER_H
#define LOOM_MEMBER_H

#include <poll.h>
#include <sys/types.h>

#include "loom/worker.h"

struct member {
	pid_t pid;
	int socket;
	unsigned jobs; /* given and not reported */
	/* The last message: what of it is not taken yet, and the area that came with it, -1 = none. */
	char *bytes;
	size_t at, size;
	int area;
};

struct members {
	struct member *items;
	size_t n, turn; /* whom to ask first */
	struct pollfd *polled;
};

/* `n` workers. setup->socket and setup->parent are filled in here. */
struct error *members_start(struct members *members, struct worker_setup *setup, size_t n);
/* The next one that has something to say; NULL when none has in time. */
struct member *members_wait(struct members *members, double wait_s);
/* Kills what still runs; frees what is held. */
void members_stop(struct members *members);

/* A worker that cannot be reached any more is noticed when its answer is missed.
 * `plan` and `sites` are the descriptors of a plan and of a set of sites, -1 = none; order->plan and
 * order->sites are filled in. */
void member_give(struct member *member, struct worker_order *order, int plan, int sites);

struct member_report {
	struct worker_report report;
	char *reason, *output; /* owned */
	int area;              /* -1 = none was sent */
};
struct error *member_take(struct member *member, struct member_report *out);
void member_report_free(struct member_report *report);

/* A run out of a report, harvested when it has an area. Takes the texts over. */
struct error *member_run(struct member_report *report, const struct launch_options *options, struct run *run);

#endif
