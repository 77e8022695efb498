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

/* The source of the instruction before an address. */
static struct unit unit_behind(struct symbols *symbols, const char *path, uint64_t behind, uint32_t kind)
{
	struct unit unit = { 0 };
	struct code_place place = { .address = behind - 1, .kind = SITE_SYNC | kind };

	if (behind)
		symbols_unit(symbols, path, &place, "", 0, &unit);
	return unit;
}

/* The same function, though only one of the names may say of which class. */
static bool is_named(const struct unit *unit, const char *function)
{
	const char *name = unit->nsites ? unit->sites[0].function : "";
	size_t n = strlen(name), m = strlen(function);

	return n && m && (n > m ? !strcmp(name + n - m, function) : !strcmp(function + m - n, name));
}

/* False when nothing is known of it. */
static bool take_call(const struct unit *unit, struct finding_access *access)
{
	if (!unit->nsites || !unit->sites[0].line)
		return false;
	access->caller.file = memory_string(unit->sites[0].file);
	access->caller.function = memory_string(unit->sites[0].function);
	access->caller.line = unit->sites[0].line;
	return true;
}

void trace_take_caller(const struct trace *trace, struct finding_access *access, size_t event)
{
	const char *path = trace->run->places ? program_of(trace, event) : NULL;

	if (!path || access->caller.line)
		return;
	const struct event_place *place = &trace->run->places[event];
	struct symbols *symbols = symbols_new();
	struct unit here = unit_behind(symbols, path, place->at, 0);
	struct unit around = unit_behind(symbols, path, place->at, PLACE_AROUND);
	struct unit caller = unit_behind(symbols, path, place->caller, 0);

	/* Where the compiler lost the line, what it inlined there has no name any more. */
	if (is_named(&here, access->function) && !take_call(&around, access))
		take_call(&caller, access);
	unit_free(&here);
	unit_free(&around);
	unit_free(&caller);
	symbols_free(symbols);
}
