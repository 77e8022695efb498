/* From where the function of an access was called: it may be a small one that many use. When it
 * was inlined there, its line says so; else the call that the run notes, once it is known of which
 * accesses.
 */
#include "diagnose/told_callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diagnose/retell.h"
#include "model/symbols.h"

/* The program or the library that has the site. */
static const char *file_of(const struct observations *run, uint32_t site)
{
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

static void take_caller(const struct observations *run, size_t told, struct symbols *symbols,
			struct finding_access *access)
{
	const char *own = file_of(run, run->events[access->event - 1].site);
	const struct told_access *place = &run->told[told];
	const char *path = place->at_path ? place->at_path : own;
	const char *caller_path = place->caller_path ? place->caller_path : own;

	if (!path || !caller_path || access->caller.line)
		return;
	struct unit here = unit_behind(symbols, path, place->at, 0);
	struct unit around = unit_behind(symbols, path, place->at, PLACE_AROUND);
	struct unit caller = unit_behind(symbols, caller_path, place->caller, 0);

	/* Where the compiler lost the line, what it inlined there has no name any more. */
	if (is_named(&here, access->function) && !take_call(&around, access))
		take_call(&caller, access);
	unit_free(&here);
	unit_free(&around);
	unit_free(&caller);
}

/* Enters the event among those that are asked for, which stay in order. */
static void ask(struct area_options *options, uint32_t event)
{
	uint32_t at = 0;

	while (at < options->ntold && options->told[at] < event)
		at++;
	if (options->ntold == AREA_TOLD || (at < options->ntold && options->told[at] == event))
		return;
	memmove(&options->told[at + 1], &options->told[at], (options->ntold - at) * sizeof *options->told);
	options->told[at] = event;
	options->ntold++;
}

struct error *callers_name(const struct launch_options *launch, const struct schedule *schedule,
			   const struct observations *trace, struct finding *const *findings, size_t n)
{
	_cleanup_(retold_free) struct retold retold = { 0 };
	struct launch_options options = *launch;

	for (size_t i = 0; i < n; i++)
		for (size_t a = 0; a < findings[i]->accesses.n; a++)
			if (findings[i]->accesses.items[a].event)
				ask(&options.area, (uint32_t)findings[i]->accesses.items[a].event - 1);
	if (!options.area.ntold)
		return NULL;
	TRY(retell(&options, schedule, &retold));
	const struct observations *run = retold.story.traced;

	if (!run || run->nevents != trace->nevents || run->ntold != options.area.ntold)
		return NULL; /* it was another run */
	struct symbols *symbols = symbols_new();

	for (size_t i = 0; i < n; i++)
		for (size_t a = 0; a < findings[i]->accesses.n; a++)
			for (size_t told = 0; told < run->ntold; told++)
				if (findings[i]->accesses.items[a].event == options.area.told[told] + 1ul)
					take_caller(run, told, symbols, &findings[i]->accesses.items[a]);
	symbols_free(symbols);
	return NULL;
}
