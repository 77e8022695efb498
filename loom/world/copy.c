/* Copying twice: once to make the copy, again after each run for what is not as in the
 * original. Links stay links; what is no file, folder or link is left out.
 */
#include "loom/world/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "loom/world/tree.h"

#define ENTRIES_MOST 2000
#define BYTES_MOST ((off_t)64 << 20)
#define STORE ".unsnarl" /* recorded runs are nothing to a program, and large */

struct size {
	uint64_t entries;
	off_t bytes;
};

static bool is_small(int folder, const char *name, struct size *size)
{
	DIR *entries = tree_open(folder, name);
	bool small = entries != NULL;

	for (const char *entry; small && (entry = tree_next(entries));) {
		struct stat status;

		if (!strcmp(entry, STORE) || fstatat(dirfd(entries), entry, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		size->bytes += S_ISREG(status.st_mode) ? status.st_size : 0;
		small = ++size->entries <= ENTRIES_MOST && size->bytes <= BYTES_MOST &&
			(!S_ISDIR(status.st_mode) || is_small(dirfd(entries), entry, size));
	}
	if (entries)
		closedir(entries);
	return small;
}

static bool copy_folder(int from, int to, bool *wrote);

static bool copy_link(int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof target - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	return symlinkat(target, to, name) == 0;
}

static bool copy_inside(int from, int to, const char *name, bool *wrote)
{
	const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int source = openat(from, name, how), copy = openat(to, name, how);

	return source >= 0 && copy >= 0 && copy_folder(source, copy, wrote);
}

static bool copy_entry(int from, int to, const char *name, bool *wrote)
{
	struct stat original, copied;

	if (fstatat(from, name, &original, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	bool there = fstatat(to, name, &copied, AT_SYMLINK_NOFOLLOW) == 0;

	if (there && (original.st_mode & S_IFMT) != (copied.st_mode & S_IFMT)) {
		*wrote = true;
		there = false;
		if (!tree_remove(to, name))
			return false;
	}
	if (S_ISREG(original.st_mode) && !(there && tree_same_file(&original, &copied))) {
		*wrote = true;
		return tree_copy_file(from, to, name, &original);
	}
	if (S_ISLNK(original.st_mode) && !there)
		return copy_link(from, to, name);
	if (S_ISDIR(original.st_mode))
		return (there || mkdirat(to, name, 0700) == 0) &&
		       fchmodat(to, name, original.st_mode & 07777, 0) == 0 &&
		       copy_inside(from, to, name, wrote);
	return true;
}

/* Removes from `to` what `from` does not have. */
static bool remove_rest(int from, int to, bool *wrote)
{
	DIR *entries = tree_open(to, ".");
	bool whole = entries != NULL;

	for (const char *name; whole && (name = tree_next(entries));) {
		struct stat status;

		if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		*wrote = true;
		whole = tree_remove(to, name);
	}
	if (entries)
		closedir(entries);
	return whole;
}

static bool copy_folder(int from, int to, bool *wrote)
{
	DIR *entries = tree_open(from, ".");
	bool whole = entries && remove_rest(from, to, wrote);

	for (const char *name; whole && (name = tree_next(entries));)
		if (strcmp(name, STORE) != 0)
			whole = copy_entry(from, to, name, wrote);
	if (entries)
		closedir(entries);
	return whole;
}

/* The folder that holds the copy, and an empty one beside it. */
static bool make_folders(struct copy *copy)
{
	const char *temporary = getenv("TMPDIR");

	copy->path = memory_format("%s/unsnarl-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(copy->path)) {
		cleanup_free(&copy->path);
		copy->path = NULL;
		return false;
	}
	_cleanup_free_ char *work = memory_format("%s/work", copy->path);

	copy->temporary = memory_format("%s/tmp", copy->path);
	if (mkdir(work, 0700) < 0 || mkdir(copy->temporary, 0700) < 0)
		return false;
	copy->folder = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return copy->folder >= 0;
}

bool copy_make(struct copy *copy)
{
	struct size size = { 0 };
	bool wrote;

	*copy = (struct copy){ .original = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .folder = -1 };
	return copy->original >= 0 && is_small(copy->original, ".", &size) && make_folders(copy) &&
	       copy_restore(copy, &wrote);
}

bool copy_restore(struct copy *copy, bool *wrote)
{
	*wrote = false;
	tree_remove(AT_FDCWD, copy->temporary);
	return mkdir(copy->temporary, 0700) == 0 && copy_folder(copy->original, copy->folder, wrote);
}

void copy_remove(struct copy *copy)
{
	cleanup_close(&copy->original);
	cleanup_close(&copy->folder);
	if (copy->path)
		tree_remove(AT_FDCWD, copy->path);
	free(copy->path);
	free(copy->temporary);
	*copy = (struct copy){ .original = -1, .folder = -1 };
}
