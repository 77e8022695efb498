/* A folder inside another that has a view needs none, unless another file system is
 * mounted there. The root folder has none: too much of the system is below it.
 */
#include "loom/world/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm" /* where shm_open and sem_open keep what they name */

struct mount_points {
	VEC(char *) list;
};

static void free_mount_points(struct mount_points *points)
{
	for (size_t i = 0; i < points->list.n; i++)
		free(points->list.items[i]);
	VEC_FREE(&points->list);
}

/* Spaces and the like are written as three octal digits there. */
static void decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		bool code = from[0] == '\\' && from[1] && from[2] && from[3];

		*to = code ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0')) : *from;
		from += code ? 4 : 1;
	}
	*to = '\0';
}

static struct error *read_mount_points(struct mount_points *points)
{
	_cleanup_fclose_ FILE *table = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	if (!table)
		return error_errno(errno, "cannot see what is mounted where");
	while (getline(&line, &room, table) > 0) {
		char *fields[5] = { 0 }, *at = line;

		for (int i = 0; i < 5; i++)
			fields[i] = strsep(&at, " ");
		if (!fields[4])
			continue;
		decode(fields[4]);
		*VEC_PUSH(&points->list) = memory_string(fields[4]);
	}
	return NULL;
}

/* What is left of `path` below `folder`; NULL when it is not below. */
static const char *below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* The outermost mounts below the folder; those below them come along. */
static struct error *find_mounts(struct layer *layer, const struct mount_points *points)
{
	for (size_t i = 0; i < points->list.n; i++) {
		const char *relative = below(points->list.items[i], layer->path);
		bool inner = !relative;

		for (size_t j = 0; j < layer->mounts.n && !inner; j++)
			inner = below(relative, layer->mounts.items[j].relative) ||
				!strcmp(relative, layer->mounts.items[j].relative);
		if (inner)
			continue;
		int tree = openat(layer->lower, relative, O_PATH | O_CLOEXEC);

		if (tree < 0 && errno == EACCES)
			continue; /* not for the program either */
		if (tree < 0)
			return error_errno(errno, "cannot look at %s", points->list.items[i]);
		*VEC_PUSH(&layer->mounts) = (struct layer_mount){ tree, memory_string(relative) };
	}
	return NULL;
}

static bool same_mount(const char *path, int folder)
{
	struct statx a, b;

	return statx(AT_FDCWD, path, 0, STATX_MNT_ID, &a) == 0 &&
	       statx(folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &b) == 0 && a.stx_mnt_id == b.stx_mnt_id;
}

/* The folder of the list that the path is in, or is; == n: none. */
static size_t find_outer(const struct folders *folders, const char *path)
{
	for (size_t i = folders->list.n; i-- > 0;) {
		const struct layer *layer = &folders->list.items[i];

		if (!strcmp(path, layer->path) ||
		    (below(path, layer->path) && same_mount(path, layer->lower)))
			return i;
	}
	return folders->list.n;
}

static struct error *add(struct folders *folders, const char *path, const struct mount_points *points)
{
	struct layer *layer = VEC_PUSH(&folders->list);

	*layer = (struct layer){ .path = memory_string(path),
				 .id = (unsigned)folders->list.n,
				 .scratch = -1,
				 .top = -1,
				 .upper = -1,
				 .lower = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	if (layer->lower < 0)
		return error_errno(errno, "cannot open %s", path);
	return find_mounts(layer, points);
}

/* Shorter paths first, so that outer folders come before inner ones. */
static int by_length(const void *a, const void *b)
{
	size_t left = strlen(*(char *const *)a), right = strlen(*(char *const *)b);

	return left < right ? -1 : left > right;
}

struct error *folders_find(struct folders *folders, bool as_user)
{
	const char *temporary = getenv("TMPDIR");
	_cleanup_(free_mount_points) struct mount_points points = { 0 };
	_cleanup_free_ char *working = getcwd(NULL, 0), *own = realpath(temporary ? temporary : "/tmp", NULL),
			    *usual = realpath("/tmp", NULL), *memory = realpath(SHARED_MEMORY, NULL);
	char *paths[] = { working, own, usual, memory }, *sorted[4];
	size_t n = 0;

	if (!working)
		return error_errno(errno, "cannot tell which folder this is");
	TRY(read_mount_points(&points));
	for (size_t i = 0; i < 4; i++)
		if (paths[i] && strcmp(paths[i], "/") != 0)
			sorted[n++] = paths[i];
	qsort(sorted, n, sizeof *sorted, by_length);
	for (size_t i = 0; i < n; i++)
		if (find_outer(folders, sorted[i]) == folders->list.n)
			TRY(add(folders, sorted[i], &points));
	size_t outer = find_outer(folders, working);

	if (as_user && outer < folders->list.n && strcmp(working, folders->list.items[outer].path) != 0) {
		TRY(add(folders, working, &points));
		folders->list.items[folders->list.n - 1].nested = true;
	}
	folders->working = find_outer(folders, working);
	if (folders->working < folders->list.n) {
		const char *inside = below(working, folders->list.items[folders->working].path);

		folders->relative = memory_string(inside ? inside : ".");
	}
	return NULL;
}

void folders_free(struct folders *folders)
{
	for (size_t i = 0; i < folders->list.n; i++)
		layer_free(&folders->list.items[i]);
	VEC_FREE(&folders->list);
	free(folders->relative);
	*folders = (struct folders){ 0 };
}
