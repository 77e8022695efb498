/* From where the function of an access was called: it may be a small one that many use. When it
 * was inlined there, its line says so; else the call that the run noted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diagnose/shown_accesses.h"
#include "model/symbols.h"

/* The program's own file. */
static const char *program_of(const struct trace *trace, size_t event)
{
	const struct observations *run = trace->run;
	uint32_t site = run->events[event].site;

	for (size_t i = 0; i < run->nunits; i++)
		if (site >= run->units[i].first && site - run->units[i].first < run->units[i].nsites)
			return run->units[i].path;
	return NULL;
}

/* The place of a call, from the address behind it; false when nothing is known of it. */
static bool take_place(struct symbols *symbols, const char *path, uint64_t behind, uint32_t kind,
		       struct finding_access *access)
{
	struct unit unit = { 0 };
	struct code_place place = { .address = behind - 1, .kind = SITE_SYNC | kind };
	bool known = false;

	if (!behind)
		return false;
	symbols_unit(symbols, path, &place, "", 0, &unit);
	if (unit.nsites && unit.sites[0].line) {
		access->caller.file = memory_string(unit.sites[0].file);
		access->caller.function = memory_string(unit.sites[0].function);
		access->caller.line = unit.sites[0].line;
		known = true;
	}
	unit_free(&unit);
	return known;
}

void trace_take_caller(const struct trace *trace, struct finding_access *access, size_t event)
{
	const char *path = trace->run->places ? program_of(trace, event) : NULL;

	if (!path || access->caller.line)
		return;
	const struct event_place *place = &trace->run->places[event];
	struct symbols *symbols = symbols_new();

	if (!take_place(symbols, path, place->at, PLACE_AROUND, access))
		take_place(symbols, path, place->caller, 0, access);
	symbols_free(symbols);
}
