/* From proposals to causes. Methods give opinions: findings that they claim. Experiments
 * decide which of these, or of what nobody claimed, is the cause: the order of causes
 * follows from their counts (lab.h) and from the run alone:
 *   0. threads that wait for each other or for a lost signal: that is the failure itself;
 *   1. proven before likely before guessed, where what is shown of a group is shown of all of its
 *      stretch that do not fail clearly less often when forced; a proven group within which another one mends the
 *      program as well counts as likely, and comes behind that: less is enough; so does one of
 *      which others may come on one side only, since an order forbids as much;
 *   2. an order of which it is shown that breaking it always fails (required_order.c), then
 *      a group of accesses that must be one step before an order of two: it forbids less; but
 *      the order before a group that was only ever seen on one side of the others;
 *   3. what leaves no failure at all, then what has no such group within it;
 *   4. a group that passes when the others come before it and when they come after it;
 *   5. a group at one location before one over several, then, of those of one stretch, the one that
 *      is told best (propose_tighter.c);
 *   6. what fails clearly more often when it is forced;
 *   7. what was complete earlier in the shortest failing run: later things follow from it;
 *   8. the smaller one.
 */
#ifndef DIAGNOSE_CAUSES_H
#define DIAGNOSE_CAUSES_H

#include "diagnose/proposals.h"
#include "model/cause.h"

/* Orders what was tried and tells it. Findings of opinions that were not tried, or fail all the same, come
 * last, in the order of the opinions. `always`: every schedule fails. */
void causes_order(const struct evidence *evidence, struct opinions *opinions, struct proposals *proposals,
		  bool always, struct causes *out);

/* Orders proposals that the quick test has let pass, best first. */
void causes_sort(const struct evidence *evidence, struct proposals *proposals);

/* Are all of them at one location? */
bool claim_parts_meet(const struct claim_parts *parts);
/* The kind of interleaving of a claim's accesses, as in LOCON's Table 1; 0 when it is none of these. */
unsigned causes_scenario(enum claim_kind kind, const struct claim_parts *parts);

/* Accesses whose code does not say what they touch get the name from others to the same. */
void causes_name(const struct claim_parts *parts, struct finding *finding);
/* A proposal in words and accesses. */
void causes_tell(const struct evidence *evidence, const struct proposal *proposal, struct finding *out);

/* The same accesses in the same order, whoever's threads they are. */
bool causes_same(const struct finding *a, const struct finding *b);
/* Is an access of the one at a place of the other? */
bool causes_touch(const struct finding *a, const struct finding *b);

#endif
