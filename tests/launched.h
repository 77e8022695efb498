/* Helpers for tests that start programs: where these are, how to run them and
 * how to see that nothing of them is left. */
#ifndef TESTS_LAUNCHED_H
#define TESTS_LAUNCHED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "loom/launch.h"

/* The programs of tests/programs are in $TEST_PROGRAMS or beside the test. */
static inline char *program_path(const char *name)
{
	const char *folder = getenv("TEST_PROGRAMS");
	char own[PATH_MAX];

	if (folder)
		return memory_format("%s/%s", folder, name);
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);

	assert_true(n > 0);
	own[n] = '\0';
	return memory_format("%s/%s", dirname(own), name);
}

/* Marks the processes of this test: an argument that nobody else has. */
static inline const char *mark(void)
{
	static char text[64];

	if (!*text)
		snprintf(text, sizeof text, "mark-%d-%ld", (int)getpid(), (long)time(NULL));
	return text;
}

static inline bool is_marked(const char *pid)
{
	char path[300], line[4096];

	snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	size_t n = file ? fread(line, 1, sizeof line, file) : 0;

	return memmem(line, n, mark(), strlen(mark())) != NULL;
}

static inline size_t marked_processes(void)
{
	DIR *all = opendir("/proc");
	size_t n = 0;

	assert_non_null(all);
	for (struct dirent *entry; (entry = readdir(all));)
		n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_marked(entry->d_name);
	closedir(all);
	return n;
}

static inline size_t open_descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(all);
	while (readdir(all))
		n++;
	closedir(all);
	return n;
}

static inline double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Waits up to ten seconds for the marked processes to be `n`. */
static inline void await_marked(size_t n)
{
	for (double start = now_s(); marked_processes() != n;) {
		assert_true(now_s() - start < 10);
		usleep(5000);
	}
}

static inline void assert_fails_with(struct error *error, const char *words)
{
	assert_non_null(error);
	if (!strstr(error->message, words))
		fail_msg("\"%s\" does not say \"%s\"", error->message, words);
	error_free(error);
}

static inline void assert_none(struct error *error)
{
	if (error)
		fail_msg("%s", error->message);
}

/* Runs the program once; argv[0] is a name from tests/programs. */
static inline struct run run_with(struct launch_options options, const char *const *argv)
{
	char *words[16] = { program_path(argv[0]) };
	struct run run;

	for (size_t i = 1; argv[i]; i++)
		words[i] = (char *)argv[i];
	options.argv = words;
	if (options.timeout_s == 0)
		options.timeout_s = 20;
	assert_none(launch_run(&options, &run));
	free(words[0]);
	return run;
}

#define RUN_WITH(options, ...) run_with(options, (const char *const[]){ __VA_ARGS__, NULL })
#define RUN(...) RUN_WITH(((struct launch_options){ 0 }), __VA_ARGS__)

static inline void assert_ended(struct run run, enum outcome outcome, int code, enum label label,
				const char *reason)
{
	assert_string_equal(run.reason, reason);
	assert_int_equal(run.outcome, outcome);
	assert_int_equal(run.code, code);
	assert_int_equal(run.label, label);
	run_free(&run);
}

#endif
