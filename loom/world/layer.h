/* A private view of one folder: what is written stays in a layer above it, in memory,
 * and can be put back as it was. */
#ifndef LOOM_WORLD_LAYER_H
#define LOOM_WORLD_LAYER_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"

struct layer_mount { /* another file system below the folder */
	int tree;
	char *relative;
};

struct layer {
	char *path;  /* of the folder, absolute; for sentences */
	unsigned id; /* among the layers of a view */
	int lower;   /* the folder itself */
	VEC(struct layer_mount) mounts;
	bool nested;             /* inside another folder that has a view */
	int scratch;             /* where layers lie */
	bool as_user;            /* in a user namespace */
	int top;                 /* root of the view; -1 = not mounted yet */
	int upper;               /* folder of the layer on top */
	unsigned number;         /* of layers so far: names their folders */
	struct timespec changed; /* of the upper folder when it was last looked at */
	VEC(char *) changing;    /* files that were there before and that runs change, relative */
};

/* Mounts the view over the folder. The first one stays for good, since a server may have
 * been started in it; later ones come above it, each in place of the one before. */
struct error *layer_renew(struct layer *layer);

/* Whether a run may have written since the last look. */
bool layer_is_touched(const struct layer *layer);
void layer_look(struct layer *layer);

struct layer_found {
	bool wrote;  /* something was there to undo */
	bool news;   /* a file changed that was not known to: runs that also read it may have seen two
			versions of it, and from now on will not */
	bool spoilt; /* it could not be undone: the layer must be renewed */
};
/* Undoes, in the view itself, what a run has written. */
struct layer_found layer_restore(struct layer *layer);

/* Takes all views of the folder away. */
void layer_undo(struct layer *layer);
void layer_free(struct layer *layer);

#endif
