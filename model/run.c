/* Releases what a run and its observations own.
 */
#include "model/run.h"

#include <stdlib.h>

void observations_free(struct observations *observations)
{
	for (size_t i = 0; i < observations->nunits; i++)
		free(observations->units[i].path);
	free(observations->units);
	free(observations->pairs);
	free(observations->couples);
	free(observations->predecessors);
	free(observations->edges);
	free(observations->events);
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
