/* The simulated machine under the program: every access goes through its caches, one
 * at a time, and only edges that its communication table gets are logged. Threads are
 * pinned to cores in order of their creation, round and round. */
#include "loom/runtime/observe/cells.h"

#include "loom/runtime/observe/cache.h"

_Static_assert(AREA_MACHINE_COUNTS == MACHINE_COUNTS, "the area has room for all counts");

static struct machine *machine;

void machine_start(void)
{
	machine = runtime_map(0, sizeof *machine);
	machine_init(machine, runtime.options.line & AREA_MACHINE_CORES, runtime.options.context);
}

/* Called inside trace_begin/trace_end. */
void machine_see(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access)
{
	for (uint64_t line = address / 64; line <= (address + size - 1) / 64; line++) {
		struct machine_edge edge;
		bool write = access == ACCESS_WRITE;

		if (machine_access(machine, self->number % machine->cores, line, write, WORD_SITE(word),
				   &edge))
			observe_edge(self, edge.source, edge.source ? edge.source_context : 0,
				     WORD_SITE(word), edge.sink_context, write);
	}
	for (int i = 0; i < MACHINE_COUNTS; i++)
		runtime.process->machine[i] = machine->counts[i];
}
