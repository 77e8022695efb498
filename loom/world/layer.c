/* Layers are overlay file systems. One quirk of theirs matters: a file of the folder
 * below is copied up when it is first opened for writing, and whoever had opened it for
 * reading before that goes on reading the old one. So files that a program has been seen
 * to change are copied up before its next run begins.
 */
#include "loom/world/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loom/world/tree.h"

#define NAME_SIZE 64

static struct error *refused(const struct layer *layer, const char *what)
{
	return error_errno(errno, "cannot make a private view of %s (%s)", layer->path, what);
}

/* Upper and work folder; the upper one is what the view's root looks like. */
static struct error *make_folders(struct layer *layer)
{
	char upper[NAME_SIZE], work[NAME_SIZE];
	struct stat like;

	snprintf(upper, sizeof upper, "%s%u.%u", "upper", layer->id, layer->number);
	snprintf(work, sizeof work, "%s%u.%u", "work", layer->id, layer->number);
	if (fstat(layer->lower, &like) < 0 || mkdirat(layer->scratch, upper, 0700) < 0 ||
	    mkdirat(layer->scratch, work, 0700) < 0)
		return refused(layer, "folders");
	cleanup_close(&layer->upper);
	layer->upper = openat(layer->scratch, upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (layer->upper < 0)
		return refused(layer, "folders");
	/* A user may not give files away; then they are his in the view. */
	if (fchown(layer->upper, like.st_uid, like.st_gid) < 0 && errno != EPERM && errno != EINVAL)
		return refused(layer, "owner");
	fchmod(layer->upper, like.st_mode & 07777);
	return NULL;
}

static bool set(int context, const char *key, const char *format, int fd, const char *name,
		const struct layer *layer)
{
	char value[NAME_SIZE * 2];

	snprintf(value, sizeof value, format, fd, name, layer->id, layer->number);
	return fsconfig(context, FSCONFIG_SET_STRING, key, value, 0) == 0;
}

static struct error *make_mount(struct layer *layer, int *mounted)
{
	_cleanup_close_ int context = fsopen("overlay", FSOPEN_CLOEXEC);
	const char *in_scratch = "/proc/self/fd/%d/%s%u.%u";

	if (context < 0)
		return refused(layer, "no overlay file system");
	if (fsconfig(context, FSCONFIG_SET_STRING, "source", "unsnarl", 0) < 0 ||
	    !set(context, "lowerdir", "/proc/self/fd/%d", layer->lower, "", layer) ||
	    !set(context, "upperdir", in_scratch, layer->scratch, "upper", layer) ||
	    !set(context, "workdir", in_scratch, layer->scratch, "work", layer))
		return refused(layer, "settings");
	/* Folders can be renamed only with attributes that a user may not write. */
	if (layer->as_user ? fsconfig(context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0
			   : fsconfig(context, FSCONFIG_SET_STRING, "redirect_dir", "on", 0) < 0)
		return refused(layer, "attributes");
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return refused(layer, "create");
	*mounted = fsmount(context, FSMOUNT_CLOEXEC, 0);
	return *mounted < 0 ? refused(layer, "mount") : NULL;
}

/* Other file systems below the folder are not in an overlay: they come along. */
static struct error *add_mounts(const struct layer *layer)
{
	for (size_t i = 0; i < layer->mounts.n; i++) {
		const struct layer_mount *mount = &layer->mounts.items[i];
		_cleanup_close_ int copy = open_tree(
			mount->tree, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

		if (copy < 0 ||
		    move_mount(copy, "", layer->top, mount->relative, MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return refused(layer, mount->relative);
	}
	return NULL;
}

static void take_away(struct layer *layer)
{
	char path[NAME_SIZE], name[NAME_SIZE];

	snprintf(path, sizeof path, "/proc/self/fd/%d", layer->top);
	umount2(path, MNT_DETACH);
	snprintf(name, sizeof name, "%s%u.%u", "upper", layer->id, layer->number);
	tree_remove(layer->scratch, name);
	snprintf(name, sizeof name, "%s%u.%u", "work", layer->id, layer->number);
	tree_remove(layer->scratch, name);
}

/* Over the folder: by its descriptor, or inside another view by its path, which leads there. */
static int place(const struct layer *layer)
{
	const unsigned from = MOVE_MOUNT_F_EMPTY_PATH;

	return layer->nested ? move_mount(layer->top, "", AT_FDCWD, layer->path, from)
			     : move_mount(layer->top, "", layer->lower, "", from | MOVE_MOUNT_T_EMPTY_PATH);
}

struct error *layer_renew(struct layer *layer)
{
	int mounted = -1;

	/* The first is covered, not taken away. */
	if (layer->top >= 0 && layer->number > 1)
		take_away(layer);
	layer->number++;
	TRY(make_folders(layer));
	TRY(make_mount(layer, &mounted));
	cleanup_close(&layer->top);
	layer->top = mounted;
	if (place(layer) < 0)
		return refused(layer, "place");
	TRY(add_mounts(layer));
	for (size_t i = 0; i < layer->changing.n; i++) {
		_cleanup_close_ int copied =
			openat(layer->top, layer->changing.items[i], O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	}
	layer_look(layer);
	return NULL;
}

void layer_undo(struct layer *layer)
{
	char path[NAME_SIZE];

	snprintf(path, sizeof path, "/proc/self/fd/%d", layer->top);
	if (layer->top >= 0)
		umount2(path, MNT_DETACH);
}

static struct timespec change_of(const struct layer *layer)
{
	struct stat now = { 0 };

	fstat(layer->upper, &now);
	return now.st_ctim;
}

bool layer_is_touched(const struct layer *layer)
{
	struct timespec now = change_of(layer);

	/* Files that were copied up may be written to and nothing else changes. */
	return layer->changing.n || now.tv_sec != layer->changed.tv_sec ||
	       now.tv_nsec != layer->changed.tv_nsec;
}

void layer_look(struct layer *layer)
{
	layer->changed = change_of(layer);
}

void layer_free(struct layer *layer)
{
	for (size_t i = 0; i < layer->mounts.n; i++) {
		cleanup_close(&layer->mounts.items[i].tree);
		free(layer->mounts.items[i].relative);
	}
	for (size_t i = 0; i < layer->changing.n; i++)
		free(layer->changing.items[i]);
	VEC_FREE(&layer->mounts);
	VEC_FREE(&layer->changing);
	free(layer->path);
	cleanup_close(&layer->lower);
	cleanup_close(&layer->top);
	cleanup_close(&layer->upper);
}
