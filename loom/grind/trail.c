/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which loops a thread is in: a stack of levels, over calls too. A level is of one
 * activation of a routine, known by its stack pointer at the header: who stands
 * at a header with a higher one has left it, and a call gives what lies below
 * to a new activation. Each change is a step in a ring, in which the place of an
 * access is looked up by its order when a pair is logged (LOCON, section 5); a
 * step that fell out is unknown, never guessed. */
#include "loom/grind/routines.h"
#include "loom/grind/shadow.h"

#define RING 1024u /* steps, as in hooked programs */

struct level {
	const struct loop *loop;
	Addr sp;
	uint32_t entry; /* counted over all loops of the thread */
	uint64_t iteration;
};

struct step {
	uint64_t order; /* accesses of the thread before it */
	struct area_loop loop;
};

struct trail {
	struct level *levels;
	uint32_t depth, room;
	uint32_t entries;
	uint64_t nsteps;
	struct step steps[RING];
};

static struct trail *trail_of(struct thread *thread)
{
	if (!thread->trail)
		thread->trail = VG_(calloc)("grind.trail", 1, sizeof *thread->trail);
	return thread->trail;
}

static void push(struct trail *trail, const struct level *level)
{
	if (trail->depth == trail->room) {
		trail->room = trail->room ? trail->room * 2 : 16;
		trail->levels =
			VG_(realloc)("grind.trail", trail->levels, trail->room * sizeof *trail->levels);
	}
	trail->levels[trail->depth++] = *level;
}

static void note_step(struct trail *trail)
{
	struct step *step = &trail->steps[trail->nsteps++ % RING];
	const struct level *top = trail->depth ? &trail->levels[trail->depth - 1] : NULL;

	step->order = *grind.thread->order;
	step->loop = top ? (struct area_loop){ .site = top->loop->site,
					       .entry = top->entry,
					       .iteration = top->iteration }
			 : (struct area_loop){ .site = AREA_LOOP_NONE };
	grind.loop_low = top ? top->sp : ~(Addr)0;
}

VG_REGPARM(2) void trail_step(const struct loop_mark *mark, Addr sp)
{
	if (!grind.observed || !thread_has_stack_at(grind.thread, sp))
		return;
	struct trail *trail = trail_of(grind.thread);
	struct level *top = trail->levels + trail->depth;
	bool left = false;

	while (trail->depth &&
	       (top[-1].sp < sp || (top[-1].sp == sp && !loop_lies_in(mark->inner, top[-1].loop)))) {
		trail->depth--;
		top--;
		left = true;
	}
	if (!mark->is_header) {
		if (left)
			note_step(trail);
		return;
	}
	if (trail->depth && top[-1].sp == sp && top[-1].loop == mark->inner)
		top[-1].iteration++;
	else
		push(trail,
		     &(struct level){
			     .loop = mark->inner, .sp = sp, .entry = ++trail->entries, .iteration = 1 });
	note_step(trail);
}

VG_REGPARM(1) void trail_call(Addr sp)
{
	struct trail *trail = grind.thread->trail;

	if (!trail || !thread_has_stack_at(grind.thread, sp))
		return;
	while (trail->depth && trail->levels[trail->depth - 1].sp <= sp)
		trail->depth--;
	note_step(trail);
}

Addr trail_low(const struct thread *thread)
{
	const struct trail *trail = thread->trail;

	return trail && trail->depth ? trail->levels[trail->depth - 1].sp : ~(Addr)0;
}

struct area_loop trail_at(const struct thread *thread, uint64_t order)
{
	const struct trail *trail = thread ? thread->trail : NULL;
	uint64_t kept = !trail ? 0 : trail->nsteps < RING ? trail->nsteps : RING;

	for (uint64_t back = 1; back <= kept; back++) {
		const struct step *step = &trail->steps[(trail->nsteps - back) % RING];

		if (step->order < order)
			return step->loop;
	}
	return (struct area_loop){ .site = AREA_LOOP_NONE,
				   .iteration = trail && trail->nsteps > RING ? AREA_ITERATION_UNKNOWN : 0 };
}
