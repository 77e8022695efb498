/* Other forms of a claim that may say what is meant where its first one does not: a group that lasts through a loop, or
 * that is one at a time; an order turned round. */
#ifndef DIAGNOSE_VARIANTS_H
#define DIAGNOSE_VARIANTS_H

#include "diagnose/proposals.h"

/* The quick test of a proposal and, where that does not mend the program, of its other forms; the first that does
 * becomes its claim. */
struct error *variants_try(struct lab *lab, struct proposal *proposal);
/* Of an order that mends the program: where the opposite does so as well neither is meant, and it counts as not mended.
 */
struct error *variants_try_turned(const struct evidence *evidence, struct lab *lab,
				  struct proposal *proposal);

#endif
