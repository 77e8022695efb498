/* Starts gdb on a program that follows a schedule. Threads are kernel threads there,
 * so that gdb knows them all.
 */
#include "cmds/replay_gdb.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/locon/ask.h"
#include "base/memory.h"
#include "cmds/cmds.h"
#include "cmds/locate.h"
#include "loom/world/world.h"

/* The access that comes first and is known by its thread and order. */
static const struct finding_access *first_access(const struct locon_answer *answer)
{
	for (size_t i = 0; i < answer->findings.n; i++) {
		const struct finding_accesses *accesses = &answer->findings.items[i].accesses;

		for (size_t k = 0; k < accesses->n; k++)
			if (accesses->items[k].order && accesses->items[k].thread != FINDING_NO_THREAD &&
			    !accesses->items[k].missing && !accesses->items[k].role)
				return &accesses->items[k];
	}
	return NULL;
}

struct error *replay_gdb_at_finding(struct replay_gdb *gdb, const char *path, uint64_t run)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(locon_data_free) struct locon_data data = { 0 };
	_cleanup_(locon_answer_free) struct locon_answer answer = { 0 };
	const struct locate_options options = { .procedure = LOCATE_ANY, .level = LOCATE_ANY, .top = 3 };

	TRY(store_open(path, false, &store));
	TRY(locon_gather(store, run, &data));
	if (!data.passed_all)
		return error_new(
			"no run of the same program and arguments has passed, so there is nothing to "
			"compare run %llu with; name a place, as in --at file.c:12",
			(unsigned long long)run);
	const struct locon_request request = locate_request(&options, &data);

	TRY(locon_ask(store, &data, &request, &answer));
	const struct finding_access *access = first_access(&answer);

	if (!access)
		return error_new(
			"unsnarl locate finds no access for run %llu; name a place, as in --at file.c:12",
			(unsigned long long)run);
	gdb->launch.control.stop_thread = access->thread;
	gdb->launch.control.stop_order = access->order;
	snprintf(gdb->function, sizeof gdb->function, "%s", access->function);
	printf("Stopping thread T%u before %s:%u in %s, the first access of finding 1.\n", access->thread,
	       access->file, access->line, access->function);
	return NULL;
}

struct words {
	const char **items;
	size_t n, room; /* as VEC */
};

static void add(struct words *words, const char *option, const char *value)
{
	*VEC_PUSH(words) = option;
	if (value)
		*VEC_PUSH(words) = value;
}

/* A signal stops gdb by itself; every other end comes down to one system call, at
 * which all threads are still there. */
static void add_stops(struct words *words, const struct replay_gdb *gdb, const char *place, const char *frame,
		      const char *run)
{
	if (gdb->launch.control.stop_order)
		add(words, "-ex", "tbreak unsnarl_here");
	if (gdb->place)
		add(words, "-ex", place);
	if (!gdb->signal)
		add(words, "-ex", "catch syscall exit_group");
	add(words, "-ex", run);
	if (gdb->launch.control.stop_order && gdb->function[0])
		add(words, "-ex", frame);
}

/* The command that starts the program; the shell that gdb starts it with has the input's descriptor, too. */
static const char *run_command(const struct world *world, char text[64])
{
	int input = world && world->input >= 0 ? dup(world->input) : -1;

	if (input < 0)
		return "run";
	snprintf(text, 64, "run < /proc/self/fd/%d", input);
	return text;
}

/* gdb starts the program, and stops where it fails. */
static void add_program(struct words *words, const struct replay_gdb *gdb, const char *place,
			const char *frame, const char *run)
{
	add(words, "-ex", "handle SIGSTOP SIGCONT nostop noprint");
	add_stops(words, gdb, place, frame, run);
	if (gdb->commands)
		add(words, "-x", gdb->commands);
	add(words, "--args", gdb->path);
	for (char **argument = gdb->arguments; *argument; argument++)
		add(words, *argument, NULL);
}

/* On the binary loom the program runs beside gdb, under Valgrind, which stops it where it fails. */
static void add_connection(struct words *words, const struct replay_gdb *gdb, const char *place,
			   const char *remote)
{
	add(words, "-ex", remote);
	if (gdb->place)
		add(words, "-ex", place);
	add(words, "-ex", "continue");
	if (gdb->commands)
		add(words, "-x", gdb->commands);
	add(words, gdb->path, NULL);
}

struct error *replay_gdb(struct replay_gdb *gdb, int *status)
{
	char run[64];
	_cleanup_free_ char *place = memory_format("tbreak %s", gdb->place ? gdb->place : "");
	_cleanup_free_ char *frame = memory_format("frame function %s", gdb->function);
	_cleanup_free_ char *prefix = memory_format("/tmp/unsnarl-gdb-%d", (int)getpid());
	_cleanup_free_ char *remote =
		memory_format("target remote | vgdb --wait=60 --max-invoke-ms=0 --vgdb-prefix=%s", prefix);
	struct words words = { 0 };

	add(&words, "gdb", "-q");
	add(&words, "-iex", "set debuginfod enabled off");
	add(&words, "-ex", "set pagination off");
	add(&words, "-ex", "set confirm off");
	if (gdb->commands)
		add(&words, "-batch", NULL);
	if (gdb->launch.loom == LOOM_BINARY) {
		gdb->launch.gdb = prefix;
		add_connection(&words, gdb, place, remote);
	} else {
		add_program(&words, gdb, place, frame, run_command(gdb->launch.world, run));
	}
	*VEC_PUSH(&words) = NULL;
	fflush(stdout);
	struct error *error = launch_under(&gdb->launch, (char *const *)(uintptr_t)words.items, status);

	VEC_FREE(&words);
	return error;
}
