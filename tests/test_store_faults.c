/* The store when the machine fails it: a writer that is killed, a lock that
 * stays, a folder that cannot be written, a disk that is full. Nothing that was
 * stored may be lost.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* unshare */
#endif
#include "tests/store_world.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

/* Adds runs until it is killed; tells the number of each that is stored. */
static void write_until_killed(struct world *world, uint64_t first, int fd)
{
	struct store *store = world_open(world);

	for (uint64_t i = first;; i++) {
		world_add_runs(world, store, i, 1, 8);
		if (write(fd, &i, sizeof i) != sizeof i)
			_exit(1);
	}
}

static void test_killed_writer_loses_nothing(void **state)
{
	(void)state;
	uint64_t stored = 0;
	struct world world;

	world_make(&world, 6);
	for (int round = 0; round < 40; round++) {
		uint64_t told = stored, wanted = stored + world_below(&world, 8);
		struct run *runs;
		int fds[2];
		size_t n;

		assert_int_equal(pipe(fds), 0);
		pid_t child = fork();

		if (!child)
			write_until_killed(&world, stored + 1, fds[1]);
		close(fds[1]);
		while (told < wanted && read(fds[0], &told, sizeof told) == sizeof told)
			;
		usleep((useconds_t)world_below(&world, 3000));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		while (read(fds[0], &told, sizeof told) == sizeof told)
			;
		close(fds[0]);
		struct store *store = world_open(&world);

		world_good(store_runs(store, 0, &runs, &n));
		assert_true(n == told || n == told + 1);
		stored = n;
		while (n)
			run_free(&runs[--n]);
		free(runs);
		if (round % 4 == 3)
			world_check_runs(&world, store, stored, 8);
		store_close(store);
		assert_int_equal(world_files_in(world.store), 1);
	}
	print_message("%d kills, %d runs\n", 40, (int)stored);
	assert_true(stored >= 100);
	world_end(&world);
}

/* Opening while another opens, writes and closes all the time: never an error. */
static void test_opening_beside_a_writer(void **state)
{
	(void)state;
	struct world world;
	int status = 0;

	world_make(&world, 1);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 1, 8);
	store_close(store);
	pid_t child = fork();

	for (uint64_t i = 2; !child && i < 150; i++) {
		store = world_open(&world);
		world_add_runs(&world, store, i, 1, 8);
		store_close(store);
	}
	if (!child)
		_exit(0);
	while (waitpid(child, &status, WNOHANG) == 0) {
		world_good(store_open(world.store, false, &store));
		world_read_all(store);
		world_check_runs(&world, store, 1, 8);
		store_close(store);
	}
	assert_int_equal(status, 0);
	store = world_open(&world);
	world_check_runs(&world, store, 149, 8);
	store_close(store);
	assert_int_equal(world_files_in(world.store), 1);
	world_end(&world);
}

static void test_lock_that_stays(void **state)
{
	(void)state;
	struct world world;
	struct run run;
	sqlite3 *other;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 2, 5);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	double start = world_seconds();

	world_run(&world, 3, 5, &run);
	world_bad(store_add(store, 1, &run), "in use by another unsnarl");
	assert_true(world_seconds() - start > 4 && world_seconds() - start < 20);
	world_check_runs(&world, store, 2, 5); /* reading goes on */
	assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	world_add_runs(&world, store, 3, 1, 5);
	world_check_runs(&world, store, 3, 5);
	run_free(&run);
	sqlite3_close(other);
	store_close(store);
	world_end(&world);
}

/* The permissions of folder and file, seen by someone who is not root. */
static void test_no_permission(void **state)
{
	(void)state;
	struct store *store, *reader;
	struct world world;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);

	store = world_open(&world);
	world_add_runs(&world, store, 1, 3, 5);
	store_close(store);
	chmod(world.folder, 0755);
	chmod(world.store, 0555);
	chmod(path, 0644);
	if (getuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	world_bad(store_open(world.store, true, &store), "read-only");
	world_good(store_open(world.store, false, &reader));
	world_check_runs(&world, reader, 3, 5);
	store_close(reader);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	chmod(path, 0);
	if (getuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	world_bad(store_open(world.store, false, &store), "Permission denied");
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	chmod(world.store, 0755);
	chmod(path, 0644);
	store = world_open(&world);
	world_add_runs(&world, store, 4, 1, 5);
	store_close(store);
	world_end(&world);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		print_message("%s: no\n", path);
	if (fd >= 0)
		close(fd);
}

/* Mounts of our own, as root or in a user namespace; false where that is not allowed. */
static bool own_mounts(void)
{
	static int allowed = -1;

	if (allowed >= 0)
		return allowed;
	_cleanup_free_ char *user = memory_format("0 %u 1", (unsigned)getuid());
	_cleanup_free_ char *group = memory_format("0 %u 1", (unsigned)getgid());

	allowed = unshare(CLONE_NEWNS) == 0;
	if (!allowed && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
		write_text("/proc/self/setgroups", "deny");
		write_text("/proc/self/uid_map", user);
		write_text("/proc/self/gid_map", group);
		allowed = 1;
	}
	allowed = allowed && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	return allowed;
}

/* A small file system under the world's store; false where that is not allowed. */
static bool small_disk(struct world *world, const char *size)
{
	_cleanup_free_ char *options = memory_format("size=%s", size);

	mkdir(world->store, 0777);
	return own_mounts() && mount("small", world->store, "tmpfs", 0, options) == 0;
}

static void test_read_only_folder(void **state)
{
	(void)state;
	struct store *store, *reader;
	struct world world;
	struct run run;
	uint64_t number;

	world_make(&world, 1);
	if (!small_disk(&world, "4m")) {
		print_message("no mounts allowed here: read-only folder not tested\n");
		world_end(&world);
		skip();
	}
	assert_int_equal(mount(NULL, world.store, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	world_bad(store_open(world.store, true, &store), "Read-only file system");
	world_bad(store_open(world.store, false, &store), "there is no store");
	assert_int_equal(mount(NULL, world.store, NULL, MS_REMOUNT, NULL), 0);
	store = world_open(&world);
	world_add_runs(&world, store, 1, 5, 5);
	store_close(store);
	assert_int_equal(mount(NULL, world.store, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	world_bad(store_open(world.store, true, &store), "read-only");
	world_good(store_open(world.store, false, &reader));
	world_check_runs(&world, reader, 5, 5);
	world_run(&world, 6, 5, &run);
	world_bad(store_add(reader, 1, &run), "read-only");
	world_bad(store_campaign(reader, "/new", NULL, 1, &number), "read-only");
	world_check_runs(&world, reader, 5, 5);
	run_free(&run);
	store_close(reader);
	umount(world.store);
	world_end(&world);
}

/* Fills the disk run by run, makes room, goes on. */
static void test_full_disk(void **state)
{
	(void)state;
	struct world world;
	uint64_t stored = 3;
	struct run run;
	struct error *error = NULL;

	world_make(&world, 1);
	if (!small_disk(&world, "700k")) {
		print_message("no mounts allowed here: full disk not tested\n");
		world_end(&world);
		skip();
	}
	_cleanup_free_ char *filler = memory_format("%s/filler", world.store);
	_cleanup_free_ char *zeroes = memory_alloc(1 << 20);

	world_write_file(filler, zeroes, 300 << 10);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, stored, 30);
	for (int round = 0; round < 3; round++) {
		for (;;) {
			world_run(&world, stored + 1, 30, &run);
			error = store_add(store, 1, &run);
			run_free(&run);
			if (error)
				break;
			stored++;
		}
		world_bad(error, "no space left on the disk");
		world_check_runs(&world, store, stored, 30);
		if (round == 1) { /* over a closing and opening, too, both on the full disk */
			store_close(store);
			world_good(store_open(world.store, false, &store));
			world_check_runs(&world, store, stored, 30);
		}
		if (round == 0)
			assert_int_equal(truncate(filler, 200 << 10), 0);
		if (round == 1) {
			unlink(filler);
			store_close(store);
			store = world_open(&world);
		}
	}
	print_message("%d runs on the full disk\n", (int)stored);
	store_close(store);
	umount(world.store);

	assert_true(small_disk(&world, "16k")); /* not even the empty store */
	world_bad(store_open(world.store, true, &store), "No space left");
	assert_int_equal(world_files_in(world.store), 0);
	umount(world.store);
	world_end(&world);
}

/* A write that fails for another reason, wherever it happens. */
static void test_failing_writes(void **state)
{
	(void)state;
	struct rlimit old, limit;
	uint64_t stored = 0, failures = 0;
	struct world world;
	struct run run;

	world_make(&world, 1);
	struct store *store = world_open(&world);
	uint64_t campaign = world_campaign(store, "/p");

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (uint64_t i = 0; i < 150; i++) {
		limit = old;
		limit.rlim_cur = 40000 + 3000 * i;
		setrlimit(RLIMIT_FSIZE, &limit);
		world_run(&world, stored + 1, 20, &run);
		struct error *error = store_add(store, campaign, &run);

		setrlimit(RLIMIT_FSIZE, &old);
		run_free(&run);
		if (error)
			failures++;
		else
			stored++;
		error_free(error);
		if (i % 30 == 29) {
			store_close(store);
			store = world_open(&world);
		}
	}
	signal(SIGXFSZ, SIG_DFL);
	assert_true(stored > 10 && failures > 10);
	world_check_runs(&world, store, stored, 20);
	store_close(store);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_writer_loses_nothing),
		cmocka_unit_test(test_opening_beside_a_writer),
		cmocka_unit_test(test_lock_that_stays),
		cmocka_unit_test(test_no_permission),
		cmocka_unit_test(test_read_only_folder),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_failing_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
