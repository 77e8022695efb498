/* A fork server: the program itself, started once and stopped before its first
 * constructor, from which every run is forked (protocol: loom/area.h). */
#ifndef LOOM_SERVER_H
#define LOOM_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "loom/area.h"
#include "loom/spawn.h"
#include "loom/watch.h"

struct server {
	pid_t pid;                /* 0 = not started */
	int socket;               /* -1 */
	int out[2], err[2];       /* pipes that all runs write to: read end, write end; -1 */
	int note_fd;              /* -1 */
	struct server_note *note; /* shared with the server; NULL */
	uint64_t area;            /* number of the area that it has, 0 = none */
	unsigned folder;          /* number of the working folder that it is in */
	clockid_t clock;          /* its processor time */
};

/* A server that is not there. */
#define SERVER_NONE (struct server){ .socket = -1, .out = { -1, -1 }, .err = { -1, -1 }, .note_fd = -1 }

/* Starts the program as a server; start->out, err and area are filled in here. */
struct error *server_start(struct server *server, struct spawn *start);

/* One run with this area, of which each has a number of its own. `folder` is the working folder to change to,
 * -1 = it stays where it is. `watch` says how long it may
 * take, where its output goes and what stops it; its `children` must be those of this process.
 * *lost when the server did not survive it. */
struct error *server_run(struct server *server, int area, uint64_t number, int folder, struct watch *watch,
			 struct ending *ending, bool *lost);

/* Seconds of processor time that the server itself has taken. */
double server_cpu_s(const struct server *server);

/* Ends it and the run that it may have forked, and reaps both. */
void server_stop(struct server *server);

#endif
