/* Follows a schedule once more, strictly and with a trace, so that it can be told
 * line by line; for the verbs that tell one.
 */
#ifndef DIAGNOSE_RETELL_H
#define DIAGNOSE_RETELL_H

#include "loom/launch.h"
#include "model/atlas.h"
#include "model/schedule.h"
#include "report/story.h"

struct retold {
	struct run run; /* the traced one */
	struct atlas atlas;
	struct story story;
};

/* `launch` says how the program is started. When the run goes astray the story has
 * no trace. */
struct error *retell(const struct launch_options *launch, const struct schedule *schedule,
		     struct retold *out);
void retold_free(struct retold *retold);

/* Options that follow the schedule strictly in a process of its own. */
struct launch_options retell_strictly(const struct launch_options *launch, const struct schedule *schedule);

#endif
