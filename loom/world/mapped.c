/* A walk that stops at the first file that is in the way. */
#include "loom/world/mapped.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "loom/world/tree.h"

#define ENTRIES_MOST 2000

static bool is_mapped(int folder, const char *name)
{
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(status.st_mode))
		return true;
	return (status.st_uid == geteuid() && status.st_gid == getegid()) ||
	       faccessat(folder, name, W_OK, AT_EACCESS) < 0;
}

static bool all_mapped(int folder, const char *name, unsigned *looked)
{
	DIR *entries = tree_open(folder, name);
	bool mapped = true;

	for (const char *entry;
	     entries && mapped && *looked < ENTRIES_MOST && (entry = tree_next(entries));) {
		++*looked;
		mapped = is_mapped(dirfd(entries), entry) && all_mapped(dirfd(entries), entry, looked);
	}
	if (entries)
		closedir(entries);
	return mapped;
}

bool mapped_all(int folder, const char *relative)
{
	_cleanup_free_ char *path = memory_string(relative);
	unsigned looked = 0;

	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct stat status;

		*slash = '\0';
		/* A folder on the way is copied up whoever may write it. */
		if (fstatat(folder, path, &status, 0) < 0 || status.st_uid != geteuid() ||
		    status.st_gid != getegid())
			return false;
		*slash = '/';
	}
	return is_mapped(folder, relative) && all_mapped(folder, relative, &looked);
}
