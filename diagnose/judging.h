/* What the experiments on one failure have at hand: shared by judge.c, which runs them, and
 * second_fault.c, which runs them once more for a failure that the first cause leaves. */
#ifndef DIAGNOSE_JUDGING_H
#define DIAGNOSE_JUDGING_H

#include "diagnose/judge.h"
#include "diagnose/proposals.h"

#define SCHEDULES_MOST 6u /* failing ones that are followed, the shortest first */
#define PASSED_MOST 2u    /* passing runs that are traced */

struct judging {
	struct diagnosis *diagnosis;
	const struct run *failure;       /* that is to be explained */
	const struct schedule *shortest; /* of it */
	struct retold *retold;           /* that, traced */
	struct evidence evidence;
	struct lab lab;
	struct locations locations;
	struct run others[SCHEDULES_MOST]; /* failing runs */
	size_t nothers;
	const struct schedule *schedules[SCHEDULES_MOST];
	struct run passes[PASSED_MOST];
	size_t npasses;
	struct retold passed[PASSED_MOST];
	struct proposals proposals;
	struct proposals couples; /* tried when no other group mends */
};

struct judging *judging_new(struct diagnosis *diagnosis, const struct run *failure,
			    const struct schedule *shortest, struct retold *retold);
void judging_free(struct judging *judging);
struct error *judging_prepare(struct judging *judging, struct chase *chase, double deadline, uint64_t most);
struct error *judging_experiment(struct judging *judging);
/* Do the two fail in the same way? */
bool judging_is_alike(const struct run *run, const struct run *failure);

/* Another fault, which stays when the first cause is forbidden: the second of the causes (second_fault.c). */
struct error *judge_second(struct diagnosis *diagnosis, struct chase *chase, double deadline, uint64_t most);

#endif
