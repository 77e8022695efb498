/* Locks that are taken in a circle are mostly taken so at more places than the run that got stuck there shows:
 * a claim about them speaks of all calls that a traced run has seen take a lock of one side while they held one
 * of another. Which locks these are the objects tell that the claim's own calls took.
 */
#include "base/memory.h"
#include "diagnose/claim_build.h"
#include "diagnose/lock_stack.h"

#define FIRST_MOST 64u /* objects that were the first lock of a side */

struct sides {
	struct claim *claim;
	struct {
		uint64_t object;
		uint32_t role;
	} first[FIRST_MOST];
	uint32_t n;
};

/* The first step of a role takes its first lock, the second one the lock that it is stuck at. */
static struct claim_step *step_of(struct claim *claim, uint32_t role, uint32_t number)
{
	for (uint32_t i = 0; i < claim->nsteps; i++)
		if (claim->steps[i].role == role && number-- == 0)
			return &claim->steps[i];
	return NULL;
}

static bool is_first_of(const struct sides *sides, uint64_t object, uint32_t role)
{
	for (uint32_t i = 0; i < sides->n; i++)
		if (sides->first[i].object == object && sides->first[i].role == role)
			return true;
	return false;
}

static void find_objects(const struct observations *run, const struct atlas *atlas, struct sides *sides)
{
	for (size_t i = 0; i < run->ncalls; i++) {
		const struct call *call = &run->calls[i];
		const struct site *site = call->kind == CALL_ACQUIRE ? atlas_number(atlas, call->site) : NULL;

		for (uint32_t role = 0; site && role < sides->claim->nroles; role++) {
			const struct claim_step *step = step_of(sides->claim, role, 0);

			if (!step || !claim_has_site(step, site->id) || sides->n == FIRST_MOST ||
			    is_first_of(sides, call->object, role))
				continue;
			sides->first[sides->n].object = call->object;
			sides->first[sides->n++].role = role;
		}
	}
}

static void add_site(const struct atlas *atlas, uint32_t number, struct claim_step *step)
{
	const struct site *site = atlas_number(atlas, number);

	if (site && step && step->nsites < CLAIM_SITES && !claim_has_site(step, site->id))
		step->sites[step->nsites++] = site->id;
}

/* `inner` is taken while `outer` is held: is the one a lock of a side, the other that of another side? */
static void note_nested(const struct atlas *atlas, struct sides *sides, const struct held_lock *outer,
			const struct held_lock *inner)
{
	for (uint32_t role = 0; role < sides->claim->nroles; role++)
		for (uint32_t other = 0; other < sides->claim->nroles; other++)
			if (other != role && is_first_of(sides, outer->object, role) &&
			    is_first_of(sides, inner->object, other)) {
				add_site(atlas, outer->site, step_of(sides->claim, role, 0));
				add_site(atlas, inner->site, step_of(sides->claim, role, 1));
			}
}

static void take(const struct atlas *atlas, struct sides *sides, struct lock_stack *locks,
		 const struct call *call)
{
	struct held_lock inner = { .object = call->object, .site = call->site };

	for (uint32_t i = 0; i < locks->n; i++)
		note_nested(atlas, sides, &locks->held[i], &inner);
	lock_stack_follow(locks, call);
}

void claim_add_nested(const struct observations *run, const struct atlas *atlas, struct claim *claim)
{
	struct sides sides = { .claim = claim };
	_cleanup_free_ struct lock_stack *threads = memory_alloc((run->nthreads + 1) * sizeof *threads);

	find_objects(run, atlas, &sides);
	for (size_t i = 0; i < run->ncalls; i++) {
		const struct call *call = &run->calls[i];

		if (call->thread > run->nthreads)
			continue;
		if (call->kind == CALL_ACQUIRE && call->site != SITE_NIL)
			take(atlas, &sides, &threads[call->thread], call);
		else if (call->kind == CALL_RELEASE)
			lock_stack_follow(&threads[call->thread], call);
	}
}
