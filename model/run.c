/* What a context says, and how a run and its observations are released.
 */
#include "model/run.h"

#include <stdlib.h>

void observations_free(struct observations *observations)
{
	for (size_t i = 0; i < observations->nunits; i++) {
		free(observations->units[i].path);
		free(observations->units[i].what);
	}
	free(observations->units);
	free(observations->pairs);
	free(observations->couples);
	free(observations->predecessors);
	free(observations->edges);
	free(observations->events);
	for (size_t i = 0; i < observations->ntold; i++) {
		free(observations->told[i].at_path);
		free(observations->told[i].caller_path);
	}
	free(observations->told);
	free(observations->blocks);
	free(observations->calls);
	*observations = (struct observations){ 0 };
}

void run_free(struct run *run)
{
	observations_free(&run->observations);
	free(run->reason);
	free(run->output);
	schedule_free(&run->schedule);
	schedule_free(&run->reduced);
	*run = (struct run){ 0 };
}

unsigned context_kept(uint16_t context)
{
	if (context == 0 || context >> 15)
		return CONTEXT_MOST;
	return (31u - (unsigned)__builtin_clz(context)) / 2;
}

unsigned context_events(uint16_t context, unsigned kept)
{
	return kept >= CONTEXT_MOST ? CONTEXT_MOST : context_kept(context);
}
