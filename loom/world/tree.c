/* Walks over folders that other processes may change meanwhile: what is missing by now
 * is as good as removed. */
#include "loom/world/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/cleanup.h"

DIR *tree_open(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !entries)
		close(fd);
	return entries;
}

const char *tree_next(DIR *entries)
{
	struct dirent *entry;

	do {
		entry = readdir(entries);
	} while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	return entry ? entry->d_name : NULL;
}

bool tree_remove(int folder, const char *name)
{
	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
		return true;
	if (errno != EISDIR && errno != EPERM)
		return false;
	/* A folder may have been closed to its owner. */
	fchmodat(folder, name, 0700, 0);
	DIR *entries = tree_open(folder, name);

	if (!entries)
		return false;
	for (const char *entry; (entry = tree_next(entries));)
		tree_remove(dirfd(entries), entry);
	closedir(entries);
	return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

static bool copy_bytes(int from, int to, off_t size)
{
	for (off_t left = size; left > 0;) {
		ssize_t done = sendfile(to, from, NULL, left > 1 << 20 ? 1 << 20 : (size_t)left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done == 0;
		left -= done;
	}
	return true;
}

bool tree_copy_file(int from, int to, const char *name, const struct stat *like)
{
	_cleanup_close_ int source = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int copy =
		source < 0 ? -1
			   : openat(to, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	const struct timespec times[] = { like->st_atim, like->st_mtim };

	return copy >= 0 && copy_bytes(source, copy, like->st_size) &&
	       fchmod(copy, like->st_mode & 07777) == 0 && futimens(copy, times) == 0;
}

bool tree_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_mode == b->st_mode;
}
