/* Starts a program on a loom, watches it, kills all it left behind, labels the
 * run and harvests what it taught. The one place that starts programs. */
#ifndef LOOM_LAUNCH_H
#define LOOM_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "loom/area.h"
#include "model/run.h"

struct world; /* loom/world/world.h */
struct steer; /* loom/steer.h */

/* How a program is seen: by the hooks that unsnarl cc put in, or as it is, under Valgrind. */
enum loom { LOOM_ANY, LOOM_COMPILED, LOOM_BINARY };

struct launch_options {
	enum loom loom;    /* as launch_check found it; LOOM_ANY means compiled */
	const char *path;  /* of the program, as launch_check resolved it; NULL = argv[0] */
	char *const *argv; /* what the program gets, argv[0] as the user wrote it */
	const char *only;  /* on the binary loom: file name of the one program to see; NULL = all of them */
	struct area_options area;
	struct area_control control;      /* policy POLICY_FREE = not controlled */
	const struct schedule_turn *plan; /* control.nplan turns */
	const uint64_t *sites;            /* control.nsites ids, rising: accesses there are always points */
	double timeout_s;                 /* 0 = none */
	const char *expect;               /* stdout must equal this file; NULL = no such check */
	const char *check; /* shell command: stdin is the program's stdout, exit 0 = pass; NULL = none */
	enum label force;  /* 0 = judge, else every run gets this label */
	const char *gdb;   /* on the binary loom: where gdb finds the run (vgdb's prefix); NULL = no gdb */
	bool still;        /* without address randomisation, where that is allowed */
	struct world
		*world; /* files, network and input of the runs; NULL = all of them the caller's, no input */
	/* Workers for the same program: where its start is dear, launch_run has its run made by them. NULL = a process
	 * of its own. */
	struct steer *const *server;
};

/* Resolves `program` through PATH; says in a sentence when it is missing, not
 * executable or cannot be observed. *loom is what is wanted, and then what it is:
 * programs without hooks need the binary loom. *build is the hash of its bytes, and
 * another one on the binary loom, where its sites are others. */
struct error *launch_check(const char *program, enum loom *loom, char **path, uint64_t *build);

/* Whether the threads of that program can be controlled; a sentence when not. */
struct error *launch_check_control(const char *path);
/* The variable that tells a sanitizer in that program whether to look for leaks when it ends; NULL = none does. */
const char *launch_leak_options(const char *path);

/* Runs once and fills *run, which the caller frees. */
struct error *launch_run(const struct launch_options *options, struct run *run);

/* `runs` executions, `jobs` at a time; run i uses seed area.seed + i. */
struct launch_pool;
struct error *launch_pool_start(const struct launch_options *options, unsigned jobs, uint64_t runs,
				struct launch_pool **out);
/* Waits up to `wait_s` for the next finished run: *run is filled when *got. *done
 * when all were delivered. SIGINT in the caller makes it return early, got = false. */
struct error *launch_pool_next(struct launch_pool *pool, double wait_s, struct run *run, bool *got,
			       bool *done);
/* Kills what still runs and frees the pool. */
void launch_pool_stop(struct launch_pool *pool);

/* Replaces this process by the program with observers on; what is observed is
 * thrown away. Only returns on failure. */
struct error *launch_exec(const struct launch_options *options);
/* Moves this process into its place in the world and waits there for another program, a debugger, that starts
 * the program in its turn: found through PATH, with the area ready for the program. */
struct error *launch_under(const struct launch_options *options, char *const *argv, int *status);

#endif
