/* What a diagnosis has come to, on one screen and as JSON. diagnose/diagnosis_facts.c fills the view; all of it is
 * borrowed. */
#ifndef REPORT_DIAGNOSIS_VIEW_H
#define REPORT_DIAGNOSIS_VIEW_H

#include <stdio.h>

#include "model/atlas.h"
#include "model/cause.h"
#include "model/patch_proof.h"
#include "model/tally.h"
#include "report/isolate_words.h"
#include "report/story.h"

#define DIAGNOSIS_OTHERS 2u /* causes that are told beside the first */

struct diagnosis_view {
	const char *program;       /* path */
	char *const *argv;         /* as the user wrote it */
	bool binary;               /* on the binary loom */
	const struct tally *tally; /* of the hunt; the failure is in there */
	const struct run *plain;   /* alone, not controlled; NULL: there is none */
	bool always;               /* no schedule passed */
	bool timing;               /* even the shortest schedule needs too many switches to be explained */
	bool interrupted;
	uint64_t replays,
		identical; /* replays of the failure, and those with the same end, output and schedule */
	uint64_t shortest; /* number of the shortest failing run in the store, 0 = not recorded */
	const struct story *story; /* of that run; NULL: there is none */
	const struct atlas *atlas; /* its sites */
	const struct site *last;   /* its last access; NULL: not known */
	uint32_t last_thread;      /* whose that was */
	const struct opinions *opinions;
	const struct causes *causes; /* the first is the answer, */
	const struct cause *others
		[DIAGNOSIS_OTHERS]; /* and these are about other accesses: another fault, consequences */
	size_t nothers;
	const struct crash_trail *trail;
	double wall_s;
};

void diagnosis_print(const struct diagnosis_view *view, FILE *out);
void diagnosis_json(const struct diagnosis_view *view,
		    const struct patch_offer *patch); /* diagnosis_answer.c */

#endif
