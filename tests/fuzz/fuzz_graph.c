/* Testing graphs, which the monitor inside a program reads. */
#include "tests/fuzz/fuzz.h"

#include "loom/runtime/observe/monitor.c"

struct runtime runtime;
void *runtime_map(uint64_t at, size_t size)
{
	(void)at;
	return calloc(1, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monitor_graph *graph = malloc(sizeof *graph + size);

	memset(graph, 0, sizeof *graph);
	/* Most inputs have a head that passes: what follows it is of interest. */
	*graph = (struct monitor_graph){ .magic = MONITOR_GRAPH_MAGIC,
					 .version = MONITOR_VERSION,
					 .interval_s = 1 };
	struct fuzz fuzz = { data, data + size };

	graph->context = (uint32_t)fuzz_number(&fuzz, 1);
	graph->line = (uint32_t)fuzz_number(&fuzz, 1);
	graph->nunits = (uint32_t)fuzz_number(&fuzz, 3);
	graph->nedges = (uint32_t)fuzz_number(&fuzz, 3);
	size_t left = fuzz_left(&fuzz);
	struct monitor_graph *exact = malloc(sizeof *graph + left);

	memcpy(exact, graph, sizeof *graph);
	memcpy(exact + 1, fuzz.at, left);
	if (graph_is_sound(exact, sizeof *graph + left)) {
		learn_graph(exact);
		free(monitor.known);
	}
	/* And the whole as it is. */
	memcpy(graph, data, size);
	graph_is_sound(graph, size);
	free(exact);
	free(graph);
	return 0;
}
