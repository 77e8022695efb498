/* A replay in gdb, stopped where it fails, at a place, or right before one access
 * of one thread. All names are borrowed.
 */
#ifndef CMDS_REPLAY_GDB_H
#define CMDS_REPLAY_GDB_H

#include "loom/launch.h"

struct replay_gdb {
	struct launch_options launch; /* follows the schedule; control.stop_order says before which access */
	const char *path;
	char **arguments;     /* of the program, NULL-terminated */
	const char *commands; /* file that gdb reads; NULL = a person types */
	const char *place;    /* file:line; NULL = none */
	char function[256];   /* that does the access, "" = not known */
	bool signal;          /* the run was ended by a signal, which stops gdb by itself */
};

/* Sets the stop to the first access of what unsnarl locate finds first for this run. */
struct error *replay_gdb_at_finding(struct replay_gdb *gdb, const char *store, uint64_t run);

/* Until gdb ends; *status is its exit status. */
struct error *replay_gdb(struct replay_gdb *gdb, int *status);

#endif
