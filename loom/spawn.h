/* Makes run areas and starts processes: each in a session of its own, with
 * given descriptors, bound to die with the process that started it. */
#ifndef LOOM_SPAWN_H
#define LOOM_SPAWN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "loom/area.h"
#include "model/schedule.h"

struct spawn {
	const char *path; /* of the file; NULL = argv[0] */
	char *const *argv;
	char *const *environment;
	int in, out, err;            /* descriptors above 2 */
	int area;                    /* descriptor to leave open, -1 = none */
	bool still;                  /* without address randomisation */
	const cpu_set_t *processors; /* where it may run; NULL = where this process may */
	bool small_pages;            /* for runs of a millisecond, in which a huge page is cleared in vain */
};

/* Starts a process. The caller must not have other threads. */
struct error *spawn(const struct spawn *spawn, pid_t *pid);

/* A new run area that is ready for a program. The descriptor has a high number
 * and is closed on exec until spawn leaves it open. */
struct error *spawn_area(const struct area_options *options, const struct area_control *control,
			 uint64_t seed, int *fd);
/* Writes the plan that control.nplan announces. */
struct error *spawn_plan(int fd, const struct schedule_turn *turns, size_t n);
/* Writes turns, as they stand in an area, to any place of a file. */
struct error *spawn_write_turns(int fd, uint64_t offset, const struct schedule_turn *turns, size_t n);

/* Copies a plan from a file that holds it as it stands in an area. */
struct error *spawn_copy_plan(int fd, int from, size_t n);
/* Writes the sites that control.nsites announces, or copies them from a file. */
struct error *spawn_sites(int fd, const uint64_t *sites, size_t n);
struct error *spawn_copy_sites(int fd, int from, size_t n);
/* A file that holds so many ids. */
struct error *spawn_sites_file(const uint64_t *sites, size_t n, int *fd);

/* The environment of this process with room for AREA_ENVIRONMENT or SERVER_ENVIRONMENT
 * in front: entry 0 points to `entry`, the rest starts at entry 1. The array is the
 * caller's. */
char **spawn_environment(char *entry);
/* The same for a fork server that finds all functions before it forks, and takes the
 * variable away again. The caller frees the array alone. */
char **spawn_bound_environment(char *const *environment);

#define SPAWN_ENTRY_SIZE (sizeof SERVER_ENVIRONMENT + 12)
/* Writes the environment entry that names the area's descriptor. */
void spawn_entry(char entry[SPAWN_ENTRY_SIZE], int area);
/* The one that names the socket of a fork server. */
void spawn_server_entry(char entry[SPAWN_ENTRY_SIZE], int socket);
/* Moves a descriptor out of the way of the program's own; -1 with errno when it cannot. */
int spawn_move_up(int fd);

/* The machine places mappings over a wider range than the shadow layout can
 * take: programs must be started `still`. */
bool spawn_must_be_still(void);

#endif
