/* A fork server: the program itself, started once and stopped before its first
 * constructor, from which every run is forked (protocol: loom/area.h). */
#ifndef LOOM_SERVER_H
#define LOOM_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "loom/spawn.h"
#include "loom/watch.h"

struct server {
	pid_t pid;          /* 0 = not started */
	int socket;         /* -1 */
	int out[2], err[2]; /* pipes that all runs write to: read end, write end; -1 */
};

/* Starts the program as a server; start->out, err and area are filled in here. */
struct error *server_start(struct server *server, struct spawn *start);

/* One run with this area. `watch` says how long it may take, where its output goes
 * and what stops it. *lost when the server did not survive it. */
struct error *server_run(struct server *server, int area, struct watch *watch, struct ending *ending,
			 bool *lost);

/* Ends it and reaps it. */
void server_stop(struct server *server);

#endif
