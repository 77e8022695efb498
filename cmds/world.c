/* The world that runs start in, as options ask for it, and sentences about what of it
 * could not be had.
 */
#include <stdio.h>

#include "cmds/cmds.h"
#include "loom/world/world.h"

struct error *cmds_world_open(const char *verb, const struct cmds_world *options, struct world *world)
{
	bool silent;

	TRY(world_open(world));
	world->share_files = options->share_files;
	world->share_network = options->share_network;
	TRY(world_take_input(world, options->input, &silent));
	if (silent)
		fprintf(stderr,
			"unsnarl %s: nothing has come through standard input, a pipe, for a second: the "
			"program "
			"gets no input; --input - waits for its end\n",
			verb);
	return NULL;
}

void cmds_world_tell(const char *verb, const struct world *world, bool wrote)
{
	if (world->met & WORLD_COPIED)
		fprintf(stderr,
			"unsnarl %s: no private view of the working folder can be made here (it takes an "
			"overlay "
			"file system in a mount namespace, and files that are one's own); runs worked in "
			"copies of the folder, other folders were shared\n",
			verb);
	if (world->met & WORLD_SAME_FILES)
		fprintf(stderr,
			"unsnarl %s: no private view of the working folder can be made here (it takes an "
			"overlay "
			"file system in a mount namespace, and files that are one's own), and it is too "
			"large to "
			"copy: one run at a time, each with the files that the one before has left\n",
			verb);
	if (world->met & WORLD_SAME_NETWORK)
		fprintf(stderr,
			"unsnarl %s: the program binds a port, and this system gives it no network of its "
			"own: "
			"one run at a time\n",
			verb);
	if (wrote && world->met & WORLD_WROTE)
		fprintf(stderr,
			"unsnarl %s: what the program wrote into the working folder is gone with its runs; "
			"--share-files keeps it\n",
			verb);
}
