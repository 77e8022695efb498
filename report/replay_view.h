/* What replays did, compared with what was recorded; told at the end. All names
 * are borrowed.
 */
#ifndef REPORT_REPLAY_VIEW_H
#define REPORT_REPLAY_VIEW_H

#include "base/memory.h"
#include "model/atlas.h"
#include "model/run.h"

struct replay_report {
	const char *name;
	const struct schedule *recorded;
	struct atlas *atlas;
	bool failed; /* the recorded run */
	bool still;  /* replayed without address randomisation, since with it a run went astray */
	bool strayed;
	uint64_t runs, identical;
	uint64_t same_end, same_output, same_schedule;
	struct run other; /* the first that was not identical */
	bool has_other;
	char *ended, *output; /* of the first run */
};

void replay_report_free(struct replay_report *report);

void replay_view_print(const struct replay_report *report);
void replay_view_json(const struct replay_report *report);

#endif
