/* The runs that teach unsnarl learn and unsnarl expose. */
#ifndef CMDS_LEARN_H
#define CMDS_LEARN_H

#include "analysis/invariant/annotations.h"
#include "analysis/invariant/training.h"
#include "loom/launch.h"

struct learn_runs {
	uint64_t most, jobs;  /* runs at most, at a time */
	bool until_converged; /* stop as soon as nothing new comes */
	bool free;            /* not controlled */
	const char *store;
	uint64_t done, failed; /* out */
	bool interrupted;      /* out */
};

/* Runs the program, records each run, and stops when the sets have converged. */
struct error *learn_run(struct store *store, const struct launch_options *launch, uint64_t build,
			struct learn_runs *runs);
/* Where controlled runs failed others may have passed by luck: what `n` free runs have by themselves tells. */
struct error *learn_witnesses(struct store *store, const struct launch_options *launch, uint64_t build,
			      struct learn_runs *runs, uint64_t n);
#define LEARN_TRACES_ENOUGH UINT64_MAX /* until they teach nothing new, for a few seconds at most */
/* Traces the campaign's command line `n` times, if its program is still the one that ran. */
struct error *learn_trace(const struct campaign *campaign, const struct launch_options *oracle, uint64_t n,
			  struct training *training);

/* Traces passing runs, controlled, until the sets of the chosen places have converged, `most` runs at most. */
struct error *learn_anew(const struct campaign *campaign, const struct launch_options *oracle, uint64_t most,
			 struct training *training, const bool *chosen, struct recomputed *recomputed);

#endif
