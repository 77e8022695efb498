/* Which folders a run gets a private view of: the working folder and those for
 * temporary files. */
#ifndef LOOM_WORLD_FOLDERS_H
#define LOOM_WORLD_FOLDERS_H

#include "loom/world/layer.h"

struct folders {
	VEC(struct layer) list; /* outer ones first; not mounted yet */
	size_t working;         /* the one that holds the working folder; == n: none does */
	char *relative;         /* where in that one the working folder is, "." = it is the one */
};

/* To be called inside the mount namespace that the views are for. `as_user`: in a user
 * namespace, where the folders on the way to the working folder may be other users' and
 * cannot be copied up: it gets a view of its own then. */
struct error *folders_find(struct folders *folders, bool as_user);
void folders_free(struct folders *folders);

#endif
