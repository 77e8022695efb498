/* LOCON from question to findings: applies the procedures in their order until
 * one answers. What speaks for each finding is told in facts; the words are
 * report/locate_words.h's.
 */
#ifndef ANALYSIS_LOCON_LOCATE_ANSWER_H
#define ANALYSIS_LOCON_LOCATE_ANSWER_H

#include "analysis/locon/explain.h"

/* LOCON_SWITCHES is none of LOCON's: forced.h. */
enum { LOCON_DEFAULT, LOCON_I, LOCON_II, LOCON_III, LOCON_SWITCHES };

struct locon_request {
	unsigned procedure; /* LOCON_DEFAULT: I, II, III until one answers */
	int level;          /* of III; -1: site, thread, loop, moment until one answers */
	size_t top;         /* findings wanted at most; 0: all */
	uint64_t run;       /* number of the failed run, for the findings */
	/* By the store's numbers, input->nsites of them; items may be NULL. */
	const struct site *const *sites;
};

enum locon_ground {
	LOCON_RARE,        /* `shown` of the passing runs show it, few or none */
	LOCON_CONSEQUENCE, /* no passing run shows it, nor runs this code */
	LOCON_REVERSED,    /* all passing runs have it the other way round */
	LOCON_PARTED,      /* in all `shown` that have the one the other came with it */
	LOCON_STALE,       /* in `expected` passing runs the second value is the younger */
	LOCON_TOGETHER,    /* the parts are usual; `shown` have both, where `expected` were due */
	LOCON_SWITCH,      /* it fails as long as the switch stays between these accesses */
	LOCON_SWITCH_EXACT /* moved over one of them the failure is gone */
};

/* What speaks for a finding. */
struct locon_reason {
	enum locon_ground ground;
	size_t shown, passed; /* of so many passing runs */
	double expected;
	enum locon_level level;
};

struct locon_answer {
	struct findings findings;
	VEC(struct locon_reason) reasons; /* one for each finding */
	unsigned procedure;               /* that answered; LOCON_DEFAULT: none */
	enum locon_level level;
	size_t suspects;    /* pairs, or couples, that passed its check */
	bool cut;           /* Procedure III did not look at everything */
	bool needs_details; /* the levels loop and moment were wanted and details were not there */
};

void locon_answer(const struct locon *locon, const struct locon_request *request, struct locon_answer *out);
void locon_answer_free(struct locon_answer *answer);

const char *locon_procedure_name(unsigned procedure); /* "I" …, "switches" */
const char *locon_level_name(enum locon_level level); /* "site" … */

/* passing_order.c: fills `passing` and `otherwise` of a finding from its pattern. */
void locon_passing_order(const struct locon *locon, const struct locon_request *request,
			 const struct explain_pattern *pattern, struct finding *finding);

#endif
