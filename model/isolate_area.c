/* Bounds of what a run left in the area of isolate. The area is mapped in the process of the program under
 * test, whose wild writes may reach it: no count and no number in it is believed before it was compared
 * with its limit.
 */
#include "model/isolate_area.h"

static void bound(uint32_t *number, uint32_t most)
{
	if (*number > most)
		*number = most;
}

static void bound_use(struct isolate_use *use)
{
	bound(&use->nhops, ISOLATE_HOPS);
	for (uint32_t h = 0; h < ISOLATE_HOPS; h++)
		bound(&use->hops[h].definition.definer, DEFINED_LOST);
}

static void bound_failure(struct isolate_failure *failure)
{
	if (failure->kind > FAILED_NO_BLOCK)
		failure->kind = FAILED_NOT;
	bound(&failure->nuses, ISOLATE_USES);
	bound(&failure->nreads, ISOLATE_READS);
	bound(&failure->kept.definition.definer, DEFINED_LOST);
	bound(&failure->freed_by.definition.definer, DEFINED_LOST);
	bound_use(&failure->length);
	for (uint32_t i = 0; i < ISOLATE_USES; i++)
		bound_use(&failure->uses[i]);
}

void isolate_area_bound(struct isolate_area *area)
{
	bound(&area->nplanned, ISOLATE_PLANNED);
	bound(&area->navoided, ISOLATE_PLANNED);
	bound(&area->nwatched, ISOLATE_WATCHED);
	bound(&area->npoints, ISOLATE_WATCHED);
	bound(&area->nmodules, ISOLATE_MODULES);
	for (uint32_t i = 0; i < ISOLATE_MODULES; i++)
		area->modules[i][ISOLATE_PATH - 1] = 0;
	bound_failure(&area->failure);
}
