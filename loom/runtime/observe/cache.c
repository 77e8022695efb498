/* The caches, one access at a time. What the paper leaves open is settled so: an event
 * enters a context register when another cache takes part, for transfers between
 * caches are all the communication there is (4.2.2); a write to a line that is
 * exclusive leaves no metadata (4.2.2); threads of one core do not communicate; the
 * handler that reads the full table takes as long as one access per entry, and what
 * would enter meanwhile is lost (6.5.1). */
#include "loom/runtime/observe/cache.h"

#include <stddef.h>

#define TABLE_ENTRIES 16384u

void machine_init(struct machine *machine, uint32_t cores, uint32_t events)
{
	machine->cores = cores < 1 ? 1 : cores > CACHE_CORES ? CACHE_CORES : cores;
	machine->context_mask = (uint32_t)((1ull << 2 * events) - 1);
	machine->context_full = events < 8 ? 1u << 2 * events : 0;
	machine->context_most = machine->context_mask | machine->context_full;
	for (uint32_t core = 0; core < machine->cores; core++)
		machine->context[core] = machine->context_full ? 1 : 0;
}

static void push(struct machine *machine, uint32_t core, uint32_t event)
{
	uint32_t context = machine->context[core] << 2 | event;

	if (context > machine->context_most)
		context = (context & machine->context_mask) | machine->context_full;
	machine->context[core] = context;
}

static struct cache_line *find(struct machine *machine, uint32_t core, uint64_t line)
{
	struct cache_line *set = machine->lines[core][line % CACHE_SETS];

	for (uint32_t way = 0; way < CACHE_WAYS; way++)
		if (set[way].state != CACHE_INVALID && set[way].line == line)
			return &set[way];
	return NULL;
}

/* A place for a line: an invalid one, or the least recently used, whose metadata is lost. */
static struct cache_line *victim(struct machine *machine, uint32_t core, uint64_t line)
{
	struct cache_line *set = machine->lines[core][line % CACHE_SETS], *oldest = &set[0];

	for (uint32_t way = 0; way < CACHE_WAYS; way++) {
		if (set[way].state == CACHE_INVALID)
			return &set[way];
		if (set[way].used < oldest->used)
			oldest = &set[way];
	}
	return oldest;
}

/* An entry for the communication table, unless its reader is at work. */
static bool table_write(struct machine *machine)
{
	if (machine->time < machine->trap_end) {
		machine->counts[MACHINE_DISCARDED]++;
		return false;
	}
	machine->counts[MACHINE_TABLE_WRITES]++;
	if (++machine->table == TABLE_ENTRIES) {
		machine->table = 0;
		machine->trap_end = machine->time + TABLE_ENTRIES;
		machine->counts[MACHINE_TRAPS]++;
	}
	return true;
}

static bool read_line(struct machine *machine, uint32_t core, uint64_t line, struct cache_line *mine,
		      struct machine_edge *edge)
{
	struct cache_line *supplier = NULL;
	uint32_t from = 0;

	if (mine)
		return false;
	machine->counts[MACHINE_READ_MISSES]++;
	for (uint32_t other = 0; other < machine->cores; other++) {
		struct cache_line *copy = other == core ? NULL : find(machine, other, line);

		if (!copy)
			continue;
		/* The owner supplies it; of several sharers the first one. */
		if (!supplier || copy->state > supplier->state) {
			supplier = copy;
			from = other;
		}
	}
	mine = victim(machine, core, line);
	*mine = (struct cache_line){ .line = line, .used = machine->time, .state = CACHE_EXCLUSIVE };
	*edge = (struct machine_edge){ .sink_context = (uint16_t)machine->context[core] };
	if (supplier) {
		machine->counts[MACHINE_COHERENCE_MISSES]++;
		machine->counts[MACHINE_METADATA_WRITES]++;
		supplier->state = mine->state = CACHE_SHARED;
		edge->source = mine->site = supplier->site;
		edge->source_context = mine->context = supplier->context;
		push(machine, core, EVENT_LOCAL_READ);
		push(machine, from, EVENT_REMOTE_READ);
	}
	return table_write(machine);
}

static bool write_line(struct machine *machine, uint32_t core, uint64_t line, struct cache_line *mine,
		       uint32_t site, struct machine_edge *edge)
{
	bool others = false;

	if (mine && mine->state != CACHE_SHARED) {
		mine->state = CACHE_MODIFIED;
		return false;
	}
	machine->counts[MACHINE_WRITE_MISSES]++;
	uint32_t context = machine->context[core];

	*edge = (struct machine_edge){ .sink_context = (uint16_t)context };
	for (uint32_t other = 0; other < machine->cores; other++) {
		struct cache_line *copy = other == core ? NULL : find(machine, other, line);

		if (!copy)
			continue;
		if (!others) {
			edge->source = copy->site;
			edge->source_context = copy->context;
		}
		others = true;
		copy->state = CACHE_INVALID;
		push(machine, other, EVENT_REMOTE_WRITE);
	}
	if (!mine)
		mine = victim(machine, core, line);
	*mine = (struct cache_line){ .line = line,
				     .used = machine->time,
				     .site = site,
				     .context = (uint16_t)context,
				     .state = CACHE_MODIFIED };
	machine->counts[MACHINE_METADATA_WRITES]++;
	if (!others)
		return false;
	machine->counts[MACHINE_COHERENCE_MISSES]++;
	push(machine, core, EVENT_LOCAL_WRITE);
	/* Acknowledged by caches whose copy nobody is known to have written: no edge. */
	return edge->source && table_write(machine);
}

bool machine_access(struct machine *machine, uint32_t core, uint64_t line, bool write, uint32_t site,
		    struct machine_edge *edge)
{
	struct cache_line *mine = find(machine, core, line);

	machine->time++;
	machine->counts[MACHINE_ACCESSES]++;
	if (mine)
		mine->used = machine->time;
	return write ? write_line(machine, core, line, mine, site, edge)
		     : read_line(machine, core, line, mine, edge);
}
