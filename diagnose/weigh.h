/* Several methods, one answer. Each method gives an opinion: findings that it claims,
 * or code points that it suspects, or its word on what others claim. Weighing makes one
 * ordered list of causes, each with how sure it is and who agrees. A new method adds an
 * opinion and nothing else. Pure: knows no stores and no programs.
 */
#ifndef DIAGNOSE_WEIGH_H
#define DIAGNOSE_WEIGH_H

#include <stdbool.h>

#include "model/finding.h"

enum opinion_kind {
	OPINION_CLAIM,   /* its findings are whole interleavings */
	OPINION_POINTS,  /* its findings name places; those with a scenario are claims as well, the others
			  * are causes only when nobody claims one */
	OPINION_WITNESS, /* has no findings: confirms those of others, or not */
};

/* What a witness says. */
enum opinion_word { WORD_NOTHING, WORD_YES, WORD_NO };

struct opinion {
	const char *method; /* "locate" */
	const char *words;  /* how it knows, for people: "comparison with passing runs" */
	enum opinion_kind kind;
	double trust; /* 0..1: how much its first finding counts when its score is 1 */
	struct findings findings;
	enum opinion_word (*witness)(const void *context, const struct finding *finding);
	const void *context; /* of the witness */
};

struct opinions {
	struct opinion *items;
	size_t n, room; /* as VEC */
};
void opinions_free(struct opinions *opinions);

/* A cause: a finding and what all methods say of it. */
struct cause {
	const struct finding *finding; /* belongs to an opinion */
	double confidence;             /* 0..1 */
	/* Bits by place of the opinion. Methods that found nothing are in none of them. */
	uint32_t claimed, agreed, disagreed;
	const struct finding *part; /* a claim that tells less of the same; NULL */
};

struct causes {
	struct cause *items;
	size_t n, room; /* as VEC */
};

#define WEIGH_MOST 32 /* opinions */

/* The causes, surest first. `out` borrows from the opinions; free it with VEC_FREE. */
void weigh(const struct opinions *opinions, struct causes *out);

/* The same accesses in the same order, whoever's threads they are. */
bool weigh_same(const struct finding *a, const struct finding *b);
/* Is an access of the one at a place of the other? */
bool weigh_touches(const struct finding *a, const struct finding *b);

const char *weigh_words(double confidence); /* "sure", "likely", "a guess" */

#endif
