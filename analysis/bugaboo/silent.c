/* Before the j newest events of a context were there, it was what is left without them;
 * of a full one only the end of that is known. A write that made an event and an edge had
 * that context when it was made.
 */
#include "analysis/bugaboo/silent.h"

#include <stdlib.h>

#include "base/memory.h"

#define CONTEXTS (1u << 2 * CONTEXT_MOST)

void silent_make(struct silent *silent, unsigned events)
{
	*silent = (struct silent){ .events = events };
	silent->exactly = memory_alloc(CONTEXTS * sizeof *silent->exactly);
	silent->ending = memory_alloc(CONTEXTS * sizeof *silent->ending);
}

void silent_free(struct silent *silent)
{
	free(silent->exactly);
	free(silent->ending);
	*silent = (struct silent){ 0 };
}

void silent_begin(struct silent *silent)
{
	silent->stamp++;
}

/* The newest n events, fewer than CONTEXT_MOST, with a 1 above. */
static uint32_t newest(uint32_t context, unsigned n)
{
	return 1u << 2 * n | (context & ((1u << 2 * n) - 1));
}

void silent_note(struct silent *silent, const struct edge *edge)
{
	unsigned has = context_events(edge->sink_context, silent->events);

	if (!edge->write)
		return;
	for (unsigned n = 0; n <= has && n < CONTEXT_MOST; n++)
		silent->ending[newest(edge->sink_context, n)] = silent->stamp;
	if (has < silent->events)
		silent->exactly[newest(edge->sink_context, has)] = silent->stamp;
}

bool silent_among(const struct silent *silent, uint16_t context, unsigned last)
{
	unsigned has = context_events(context, silent->events);
	const uint32_t *noted = has < silent->events ? silent->exactly : silent->ending;

	for (unsigned j = 1; j <= last && j <= has; j++)
		if ((context >> 2 * (j - 1) & 3) == EVENT_LOCAL_WRITE &&
		    noted[newest((uint32_t)context >> 2 * j, has - j)] != silent->stamp)
			return true;
	return false;
}
