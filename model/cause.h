/* What may have been the cause of a failure: opinions of methods, and what experiments made of them. diagnose/ fills
 * these (causes.h says in which order), report/diagnosis_view.c and report/diagnosis_answer.c tell them. */
#ifndef MODEL_CAUSE_H
#define MODEL_CAUSE_H

#include "model/claim.h"
#include "model/finding.h"
#include "model/proof.h"

struct opinion {
	const char *method; /* "locate" */
	struct findings findings;
};

struct opinions {
	struct opinion *items;
	size_t n, room; /* as VEC */
};
void opinions_free(struct opinions *opinions);
#define OPINIONS_MOST 32

struct cause {
	struct finding *finding; /* an opinion's or the causes' own */
	enum verdict verdict;
	bool tried;       /* there are counts */
	bool consequence; /* forbidden it fails all the same */
	bool seen;        /* it is the failure itself */
	bool second;      /* of another failure, that comes also when the first cause is forbidden */
	struct claim claim;
	struct proof proof;
	uint32_t claimed; /* bits by place of the opinion */
};

struct causes {
	struct cause *items;
	size_t n, room;                 /* as VEC */
	struct findings told;           /* findings that no opinion has */
	struct findings second;         /* of another fault, one at most */
	struct trials_counts near, any; /* schedules of the program as it is */
	uint64_t tried, runs;           /* claims, runs of all experiments */
};
void causes_free(struct causes *causes);

double cause_score(const struct cause *cause); /* for JSON: 0..1 */

#endif
