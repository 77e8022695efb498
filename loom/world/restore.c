/* Putting a layer back: what a run made new is removed, what it changed is copied again
 * from below. All of that through the view, so that the kernel's idea of it stays right.
 * What cannot be put back so (files of the folder below that were removed or replaced)
 * takes a new layer, which costs as much as half a run.
 */
#include "loom/world/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "loom/world/tree.h"

#define COPY_MOST (1 << 20) /* larger files are cheaper in a new layer */
#define DEEPEST 64

/* One folder: in the layer, below it, and in the view. */
struct place {
	int upper, lower, view;
	const char *path; /* relative, "" = the root */
	int depth;
};

struct restoring {
	struct layer *layer;
	struct layer_found found;
};

static bool restore_folder(struct restoring *restoring, const struct place *place);

static bool is_known(const struct layer *layer, const char *path)
{
	for (size_t i = 0; i < layer->changing.n; i++)
		if (!strcmp(layer->changing.items[i], path))
			return true;
	return false;
}

static bool restore_file(struct restoring *restoring, const struct place *place, const char *name,
			 const struct stat *above, const struct stat *below)
{
	_cleanup_free_ char *path = memory_format("%s%s%s", place->path, *place->path ? "/" : "", name);

	if (!is_known(restoring->layer, path)) {
		*VEC_PUSH(&restoring->layer->changing) = memory_string(path);
		restoring->found.news = true;
	}
	if (tree_same_file(above, below))
		return true;
	restoring->found.wrote = true;
	return above->st_nlink == 1 && above->st_uid == below->st_uid && above->st_gid == below->st_gid &&
	       below->st_size <= COPY_MOST && tree_copy_file(place->lower, place->view, name, below);
}

/* A folder that hides what is below it. */
static bool is_opaque(int folder)
{
	return fgetxattr(folder, "trusted.overlay.opaque", NULL, 0) >= 0 ||
	       fgetxattr(folder, "user.overlay.opaque", NULL, 0) >= 0 ||
	       fgetxattr(folder, "trusted.overlay.redirect", NULL, 0) >= 0;
}

static bool restore_inside(struct restoring *restoring, const struct place *place, const char *name)
{
	const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int upper = openat(place->upper, name, how), lower = openat(place->lower, name, how),
			    view = openat(place->view, name, how);
	_cleanup_free_ char *path = memory_format("%s%s%s", place->path, *place->path ? "/" : "", name);
	const struct place inside = {
		.upper = upper, .lower = lower, .view = view, .path = path, .depth = place->depth + 1
	};

	return upper >= 0 && lower >= 0 && view >= 0 && inside.depth < DEEPEST && !is_opaque(upper) &&
	       restore_folder(restoring, &inside);
}

static bool restore_entry(struct restoring *restoring, const struct place *place, const char *name)
{
	struct stat above, below;

	if (fstatat(place->upper, name, &above, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (S_ISCHR(above.st_mode) && above.st_rdev == 0)
		return false; /* something was removed here */
	if (fstatat(place->lower, name, &below, AT_SYMLINK_NOFOLLOW) < 0) {
		restoring->found.wrote = true;
		return errno == ENOENT && tree_remove(place->view, name);
	}
	if (S_ISDIR(above.st_mode) && S_ISDIR(below.st_mode))
		return above.st_mode == below.st_mode && restore_inside(restoring, place, name);
	return S_ISREG(above.st_mode) && S_ISREG(below.st_mode) &&
	       restore_file(restoring, place, name, &above, &below);
}

static bool restore_folder(struct restoring *restoring, const struct place *place)
{
	DIR *entries = tree_open(place->upper, ".");
	bool whole = entries != NULL;

	for (const char *name; entries && whole && (name = tree_next(entries));)
		whole = restore_entry(restoring, place, name);
	if (entries)
		closedir(entries);
	return whole;
}

struct layer_found layer_restore(struct layer *layer)
{
	struct restoring restoring = { .layer = layer };
	const struct place root = {
		.upper = layer->upper, .lower = layer->lower, .view = layer->top, .path = ""
	};
	struct stat above, below;

	restoring.found.spoilt = fstat(layer->upper, &above) < 0 || fstat(layer->lower, &below) < 0 ||
				 above.st_mode != below.st_mode || !restore_folder(&restoring, &root);
	restoring.found.wrote |= restoring.found.spoilt;
	return restoring.found;
}
