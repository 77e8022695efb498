/* What is set up when: views and input when the worker begins, a network when a run was
 * seen to bind a port, since a program that only calls others may well mean the outside.
 */
#include "loom/world/view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "loom/world/copy.h"
#include "loom/world/folders.h"
#include "loom/world/mapped.h"
#include "loom/world/namespaces.h"
#include "loom/world/network.h"

#define REPEATS_MOST 8 /* runs that do not count, in the life of a worker */

struct view {
	const struct world *world; /* NULL = everything is shared */
	int input;
	int null;
	bool as_user;
	int scratch; /* the file system in memory that holds the layers; -1 = no private view */
	struct statfs space;
	struct folders folders;
	struct copy copy;
	int folder; /* working folder */
	unsigned folder_number;
	bool network, binds; /* has one of its own; needs one */
	bool has_turn;       /* it is the one that may run */
	unsigned repeats, met;
};

static struct error *open_input(struct view *view)
{
	char path[64];

	/* Above 2, so that no descriptor made later is in the way of the program's three, even when the
	 * tool was started with these closed. */
	do {
		view->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (view->null >= 0 && view->null <= STDERR_FILENO);
	if (view->null < 0)
		return error_errno(errno, "cannot open /dev/null");
	view->input = view->null;
	if (!view->world || view->world->input < 0)
		return NULL;
	/* Opened anew, so that workers do not move each other's place in it. */
	snprintf(path, sizeof path, "/proc/self/fd/%d", view->world->input);
	view->input = open(path, O_RDONLY | O_CLOEXEC);
	return view->input < 0 ? error_errno(errno, "cannot read the standard input again; give a file with "
						    "--input")
			       : NULL;
}

static struct error *mount_scratch(struct view *view)
{
	_cleanup_close_ int context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "source", "unsnarl", 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", "0700", 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return error_errno(errno, "cannot make a file system in memory");
	view->scratch = fsmount(context, FSMOUNT_CLOEXEC, 0);
	/* Somewhere it must be; here the first view is about to cover it. */
	if (view->scratch < 0 || move_mount(view->scratch, "", view->folders.list.items[0].lower, "",
					    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return error_errno(errno, "cannot mount a file system in memory");
	return NULL;
}

/* The working folder as it is seen from now on. */
static struct error *enter_folder(struct view *view)
{
	const struct folders *folders = &view->folders;

	if (view->scratch < 0 || folders->working == folders->list.n)
		return NULL;
	cleanup_close(&view->folder);
	view->folder = openat(folders->list.items[folders->working].top, folders->relative,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	view->folder_number++;
	if (view->folder < 0 || fchdir(view->folder) < 0)
		return error_errno(errno, "cannot enter the private view of the working folder");
	return NULL;
}

static struct error *mount_views(struct view *view)
{
	if (!namespaces_enter(CLONE_NEWNS, &view->as_user))
		return error_errno(errno, "no private view of files");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_errno(errno, "no private view of files");
	TRY(folders_find(&view->folders, view->as_user));
	if (!view->folders.list.n)
		return NULL;
	if (view->as_user && view->folders.working < view->folders.list.n &&
	    !mapped_all(view->folders.list.items[view->folders.working].lower, view->folders.relative))
		return error_new("no private view of files of other users and groups");
	TRY(mount_scratch(view));
	for (size_t i = 0; i < view->folders.list.n; i++) {
		struct layer *layer = &view->folders.list.items[i];

		layer->scratch = view->scratch;
		layer->as_user = view->as_user;
		TRY(layer_renew(layer));
	}
	fstatfs(view->scratch, &view->space);
	return enter_folder(view);
}

/* Takes away what is there of the views when the rest cannot be had. */
static void undo_views(struct view *view)
{
	char path[64];

	for (size_t i = view->folders.list.n; i-- > 0;)
		layer_undo(&view->folders.list.items[i]);
	snprintf(path, sizeof path, "/proc/self/fd/%d", view->scratch);
	if (view->scratch >= 0)
		umount2(path, MNT_DETACH);
	folders_free(&view->folders);
	cleanup_close(&view->scratch);
	view->scratch = -1;
}

static struct error *find_place(struct view *view)
{
	struct error *refused = mount_views(view);

	if (!refused)
		return NULL;
	error_free(refused);
	undo_views(view);
	if (!copy_make(&view->copy)) {
		copy_remove(&view->copy);
		view->met |= WORLD_SAME_FILES;
		return NULL;
	}
	view->met |= WORLD_COPIED;
	if (fchdir(view->copy.folder) < 0)
		return error_errno(errno, "cannot enter %s", view->copy.path);
	setenv("TMPDIR", view->copy.temporary, 1);
	return NULL;
}

/* A network of its own, or turns in the one there is. */
static bool find_network(struct view *view)
{
	view->binds = true;
	view->network = network_enter(&view->as_user);
	if (!view->network)
		view->met |= WORLD_SAME_NETWORK;
	return view->network;
}

struct error *view_open(const struct world *world, struct view **out)
{
	struct view *view = memory_alloc(sizeof *view);

	*view = (struct view){ .world = world,
			       .input = -1,
			       .null = -1,
			       .scratch = -1,
			       .folder = -1,
			       .copy = { .original = -1, .folder = -1 } };
	*out = view;
	TRY(open_input(view));
	if (world && !world->share_files)
		TRY(find_place(view));
	if (world && world->binds && !world->share_network)
		find_network(view);
	return NULL;
}

void view_close(struct view *view)
{
	if (view)
		copy_remove(&view->copy);
}

int view_input(const struct view *view)
{
	return view->input;
}

int view_folder(const struct view *view, unsigned *number)
{
	*number = view->folder_number;
	return view->folder;
}

unsigned view_met(const struct view *view)
{
	return view->met;
}

bool view_binds(const struct view *view)
{
	return view->binds;
}

static struct error *lock_turn(const struct view *view, short how)
{
	struct flock lock = { .l_type = how, .l_whence = SEEK_SET };

	while (fcntl(view->world->turns, F_SETLKW, &lock) < 0)
		if (errno != EINTR)
			return error_errno(errno, "cannot wait for the turn of a run");
	return NULL;
}

struct error *view_begin(struct view *view)
{
	off_t from = view->world ? view->world->input_from : 0;

	if (view->input != view->null && lseek(view->input, from, SEEK_SET) < 0)
		return error_errno(errno, "cannot read the standard input again; give a file with --input");
	if (view->met & (WORLD_SAME_FILES | WORLD_SAME_NETWORK) && !view->has_turn) {
		TRY(lock_turn(view, F_WRLCK));
		view->has_turn = true;
	}
	return NULL;
}

static bool is_untouched(const struct view *view, const struct statfs *space)
{
	if (space->f_ffree != view->space.f_ffree || space->f_bfree != view->space.f_bfree)
		return false;
	for (size_t i = 0; i < view->folders.list.n; i++)
		if (layer_is_touched(&view->folders.list.items[i]))
			return false;
	return true;
}

/* *news when a file was changed that had not been known to. */
static struct error *restore_views(struct view *view, bool *news)
{
	for (size_t i = 0; i < view->folders.list.n; i++) {
		struct layer *layer = &view->folders.list.items[i];
		struct layer_found found = layer_restore(layer);

		*news |= found.news;
		if (found.wrote && i == view->folders.working)
			view->met |= WORLD_WROTE;
		if (found.spoilt)
			TRY(layer_renew(layer));
		if (found.spoilt && i == view->folders.working)
			TRY(enter_folder(view));
		layer_look(layer);
	}
	fstatfs(view->scratch, &view->space);
	return NULL;
}

static struct error *restore_files(struct view *view, bool *news)
{
	struct statfs space;
	bool wrote;

	if (view->copy.path && !copy_restore(&view->copy, &wrote))
		return error_new("cannot make the copy of the working folder in %s as it was; remove it and "
				 "try again with --share-files",
				 view->copy.path);
	if (view->copy.path && wrote)
		view->met |= WORLD_WROTE;
	if (view->scratch < 0 || fstatfs(view->scratch, &space) < 0 || is_untouched(view, &space))
		return NULL;
	if (!space.f_bavail)
		return error_new("the program wrote more into its private view of the working and temporary "
				 "folders than fits into memory; --share-files lets it write to the disk");
	return restore_views(view, news);
}

struct error *view_end(struct view *view, bool bound, enum view_next *next)
{
	bool news = false;

	*next = VIEW_GO_ON;
	if (!view->world)
		return NULL;
	TRY(restore_files(view, &news));
	if (news && view->repeats++ < REPEATS_MOST)
		*next = VIEW_REPEAT;
	if (bound && !view->binds && !view->world->share_network) {
		find_network(view);
		*next = VIEW_REPEAT_AFRESH;
	}
	if (view->has_turn && *next == VIEW_GO_ON) {
		TRY(lock_turn(view, F_UNLCK));
		view->has_turn = false;
	}
	return NULL;
}
