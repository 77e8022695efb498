/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loops in the program's own machine code. routines.c decodes a routine when its first
 * block is translated and finds its natural loops; trail.c follows the threads
 * through them. Only runs that ask for loops come here. */
#ifndef GRIND_ROUTINES_H
#define GRIND_ROUTINES_H

#include "loom/grind/tool.h"

/* A loop, which is the same one for the whole run, whatever is learnt of the code around it. */
struct loop {
	Addr header;
	struct loop *parent; /* innermost one around it */
	uint32_t site;
};

/* Is `inner` that loop, or within it? */
static inline bool loop_lies_in(const struct loop *inner, const struct loop *loop)
{
	while (inner && inner != loop)
		inner = inner->parent;
	return inner != NULL;
}

/* Where control comes to the header of a loop, or out of one. */
struct loop_mark {
	struct loop *inner; /* that it lies in */
	bool is_header;     /* of that one */
};

/* A block begins at `pc`: what can be reached from there is known from here on. */
void routine_learn(Addr pc, const VexArchInfo *machine);
const struct loop_mark *routine_mark(Addr pc); /* NULL: nothing changes there */

/* Instrumented code has come to a mark. */
VG_REGPARM(2) void trail_step(const struct loop_mark *mark, Addr sp);
/* It has made a call: `sp` is where the return address lies. */
VG_REGPARM(1) void trail_call(Addr sp);

#endif
