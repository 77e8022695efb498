/* Training (AI, section 3.2): belonging sets from the passing runs of any number of
 * campaigns, who shares memory with whom from traces, and whether more runs would
 * teach more. Pure: reads a store or a trace, makes a guard set.
 */
#ifndef ANALYSIS_INVARIANT_TRAINING_H
#define ANALYSIS_INVARIANT_TRAINING_H

#include "base/hash.h"
#include "base/numbers.h"
#include "model/atlas.h"
#include "model/guard_set.h"
#include "store/store.h"

/* With so many runs in a row that teach nothing, fewer than one run in twenty would, at a confidence of
 * 95 percent: 0.95 ^ 59 < 0.05. */
#define TRAINING_QUIET 59u
/* That one run in twenty is also what tells usual from rare: where passing runs may have passed by luck, a member
 * stands when at least this share of the free runs had it. */
#define TRAINING_USUAL 20u

struct training_campaign {
	uint64_t number;
	uint64_t used;    /* passing runs with predecessors */
	uint64_t skipped; /* passing runs in which predecessors were not observed */
	uint64_t free;    /* passing runs that were not controlled, where others were: they teach nothing */
	uint64_t clocked; /* of the used ones, those in which threads met as by the clock */
	uint64_t failed;
	bool judged;    /* controlled runs failed too: what passing ones had must be usual in free runs */
	uint64_t quiet; /* of the used ones, how many came after the last that taught something */
};

/* A member of a set: `before` came before `place` in another thread. */
struct training_member {
	uint32_t place, before; /* before: GUARD_NIL or a place */
	uint32_t first;         /* index of the first run that had it */
	uint32_t last;          /* the last that had it */
	uint32_t runs;          /* how many had it */
	uint32_t failed;        /* of the failed runs, how many had it */
	uint32_t last_failed;   /* number of the last one of them, from 1 */
	bool stands;            /* some campaign that had it does not take it for luck */

	/* of the campaign that is being added */
	uint32_t taught;    /* its runs that had it */
	uint32_t clocked;   /* of them, those by clocks */
	uint32_t witnesses; /* its free runs that had it, where others teach */
	uint64_t witness;   /* number of the last one */
};

struct training {
	struct guard_set places; /* all accesses seen, their sets empty; numbers are those of `members` */
	struct map by_id;        /* place_id to number */
	struct numbers keys;     /* of members: place << 32 | before */
	VEC(struct training_member) members;
	VEC(bool) shared; /* by number: touches memory that several threads use */
	VEC(bool) marked; /* by number: seen at an address that the source marks */
	VEC(struct training_campaign) campaigns;
	VEC(uint64_t) runs; /* numbers of the runs used, in order */
	VEC(uint32_t) of;   /* their campaigns, as places in `campaigns` */
	uint64_t traces;    /* that told who shares what */
	uint64_t quiet;     /* of them, how many came after the last that told something new of an access */
	uint64_t counted;   /* of them, those in which accesses were counted */
	bool whole;         /* one of them was kept whole */
	bool cut;           /* none was: accesses are counted up to where it was cut */
	size_t lucky;       /* members left out because they are not usual in free runs */
	double rare;        /* members that a smaller share of the runs had are left out of sets */
	size_t left_out;    /* how many were */
	bool use_failed;    /* failed runs cast doubt; else only passing runs count */
	uint32_t failures;  /* failed runs with predecessors that were used for that */
	size_t doubtful;    /* members left out for that */

	/* union-find over places, by number: accesses of different groups never met */
	VEC(uint32_t) parents;
};

void training_start(struct training *training);
void training_free(struct training *training);

/* Takes in the passing runs of one campaign. A hook stands before its access, so in free runs two accesses in
 * the same moment may be seen the wrong way round; with controlled runs in the campaign only those teach,
 * unless `free_too`. Controlled schedules bring harmful orders about so often that some do no harm by luck. So where
 * some of them failed, free runs are witnesses: what is not shown to be in one of TRAINING_USUAL of them, and is rarer
 * there than in controlled ones, is not believed, of accesses that they reached at all; runs by clocks (POLICY_CLOCK)
 * bring nothing about and are not compared with. TRAINING_QUIET free runs without random delays are enough to ask. */
struct error *training_add(struct training *training, struct store *store, uint64_t campaign, bool free_too);
/* Takes in who shares memory with whom in a traced run, and how often each access ran. */
void training_trace(struct training *training, const struct observations *traced, const struct atlas *atlas);
/* The place of each site of a traced run, by number; 0 for what is no access. The caller frees it. */
uint32_t *training_places_of(struct training *training, const struct observations *traced,
			     const struct atlas *atlas);
/* By number: the reads that UNSNARL_GUARD_ADDRESS makes of the address itself, which guarded builds do not have.
 * They stand where the mark is read. The caller frees it. */
bool *training_mark_reads(const struct guard_set *places);
/* Would as many more traces tell of some access whether threads take turns at it? Those that most traces come back to
 * are asked for. */
bool training_asks_for_turns(const struct training *training);
/* Says of each place whether it is shared, and joins those that meet in a set. Call it before what follows. */
void training_settle(struct training *training);

/* How many members the sets of shared accesses have after each run; `out` has room for runs.n. */
void training_curve(const struct training *training, uint64_t *out);
/* Counts the quiet runs of each campaign; true when every campaign has enough of them. */
bool training_converged(struct training *training);
/* Did passing runs have this member by luck? Failed runs had it at least five times as often, and more often than
 * chance explains. */
bool training_doubts(const struct training *training, const struct training_member *member);
/* The guard set of all shared accesses. */
void training_set(struct training *training, struct guard_set *out);

/* The number of the place of a site, made when it is new. */
uint32_t training_place(struct training *training, const struct site *site, struct place_rank rank);
uint32_t training_group(struct training *training, uint32_t place);
void training_join(struct training *training, uint32_t a, uint32_t b);

#endif
