/* What the parts of the solver show to each other, and to nobody else. */
#ifndef STATIC_SOLVER_ROOMS_H
#define STATIC_SOLVER_ROOMS_H

#include "static/solver.h"

/* ---- solver.c ---- */
uint32_t solver_find(const struct solver *solver, uint32_t variable); /* the one that stands for it */
/* From now on the two are one variable; what either has to do for the other's locations is noted. */
void solver_unite(struct solver *solver, uint32_t a, uint32_t b);
/* The variable gets these locations as well. */
void solver_join(struct solver *solver, uint32_t variable, const roaring_bitmap_t *set);
void solver_act(struct solver *solver, const struct solver_constraint *constraint, uint32_t location);
/* A copy of the members, owned by the caller: whatever acts on them may add further ones. */
uint32_t *solver_members(const roaring_bitmap_t *set, uint64_t *n);
void solver_drop(roaring_bitmap_t **set);

/* ---- solver_locations.c ---- */
/* The offset that stands for this one in its object. */
uint32_t solver_fold(const struct solver_object *object, uint32_t offset);

/* ---- solver_blocks.c ---- */
void solver_block_reaches(struct solver *solver, uint32_t copy, uint32_t location, bool reads);
/* Block copies hear of all locations that have got a variable for what is stored there, and of all objects whose
 * offsets have become one: they may now reach what they did not. */
void solver_block_tell(struct solver *solver);

/* ---- solver_cycles.c ---- */
/* Unites circles of copies; the representatives in topological order, owned by the caller. */
uint32_t *solver_order(struct solver *solver, uint32_t *n);

#endif
