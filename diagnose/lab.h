/* The laboratory: claims are forced and forbidden in many schedules, beside the program as
 * it is, and the counts say what a claim is worth. The rule (statistics.h, level 1 in 100):
 *   mended   forbidden, none of the schedules along and near the failing ones fails, in so
 *            many that the failure would have shown; and nobody had to be let go in most;
 *   proven   it is mended also in any schedules, and forced it fails more often than the
 *            program as it is, or in more than half of the runs where that fails too often for 'more' to be
 *            shown, or it was seen when nobody could go on; and hardly anybody had to be let go;
 *   likely   mended, but forcing does not show it; or the failing schedules pass and clearly fewer
 *            near them fail, but some still do: there is more than one way to fail;
 *   a guess  neither: what fails all the same is no cause, nor what, forced, fails clearly more rarely than the
 *            program as it is.
 * Time only decides when to stop; it is no part of any count. */
#ifndef DIAGNOSE_LAB_H
#define DIAGNOSE_LAB_H

#include "loom/trials.h"

struct lab {
	struct trials trials;
	struct trials_counts near, any; /* the program as it is */
	uint64_t enough;                /* runs near the failing ones that show that it is mended */
	double opened;                  /* as watch_now */
	bool ready;                     /* the failure comes again when its schedules are followed */
};

/* Sees how often the program fails as it is. */
struct error *lab_open(struct lab *lab);
/* The quick test: does forbidding the claim mend the program? */
struct error *lab_try(struct lab *lab, const struct claim *claim, struct proof *out);
/* The whole experiment, for what the quick test has not thrown out. */
struct error *lab_prove(struct lab *lab, const struct claim *claim, struct proof *proof);
/* Does it come about when it is forced, and the program then fails clearly more rarely than as it is? What was seen
 * need not be forced. */
bool lab_is_harmless(const struct lab *lab, const struct claim *claim, const struct proof *proof);
/* SUPPRESS's check of atomicity and order, for a group: do the others' steps, moved before all of it and moved behind
 * all of it, both avoid the failure? */
struct error *lab_sides(struct lab *lab, const struct claim *claim, struct proof *proof);
bool lab_is_over(const struct lab *lab);      /* out of time */
bool lab_is_half_over(const struct lab *lab); /* half of it is used */

/* Which sides of a whole group others may take without a failure, as bits: CLAIM_BEFORE, CLAIM_AFTER. Both: to be
 * one step is what matters. One: an order may be. None: the two never met, which says nothing. */
unsigned proof_sides(const struct proof *proof);
/* Does the one, forced, fail more often than the other, clearly? */
bool proof_is_forced_better(const struct proof *a, const struct proof *b);

#endif
