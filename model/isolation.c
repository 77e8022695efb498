/* Places of an isolation by name, and its end.
 */
#include "model/isolation.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "model/variables.h"

struct unit isolation_place(struct isolation *isolation, const struct isolate_place *place,
			    enum site_kind kind)
{
	struct code_place code = { .address = place->address,
				   .kind = kind | (place->around ? PLACE_AROUND : 0) };
	_cleanup_free_ char *led =
		place->led ? memory_format("%c%llx", CODE_PLACE_LED, (unsigned long long)place->led) : NULL;
	struct unit unit = { 0 };

	if (!isolation->symbols)
		isolation->symbols = symbols_new();
	if (place->address && place->module < ISOLATE_MODULES)
		symbols_unit(isolation->symbols, isolation->modules[place->module], &code, led ? led : "", 0,
			     &unit);
	return unit;
}

void isolation_keep_led(struct isolation *isolation, const struct isolate_area *area)
{
	size_t n = area->nled < ISOLATE_LED ? area->nled : ISOLATE_LED;

	free(isolation->led);
	isolation->led = memory_alloc((n + 1) * sizeof *isolation->led);
	isolation->nled = n;
	memcpy(isolation->led, area->led, n * sizeof *isolation->led);
}

struct unit isolation_led_place(struct isolation *isolation, uint32_t thread, uint64_t order,
				enum site_kind kind)
{
	for (size_t i = 0; i < isolation->nled; i++)
		if (isolation->led[i].thread == thread && isolation->led[i].order == order)
			return isolation_place(isolation, &isolation->led[i].place, kind);
	return (struct unit){ 0 };
}

/* Is it the place where a function puts an argument that it was given? */
static bool takes_argument(struct isolation *isolation, const struct isolate_place *place)
{
	if (!isolation->symbols)
		isolation->symbols = symbols_new();
	return place->address && place->own && place->module < ISOLATE_MODULES &&
	       symbols_is_prologue(isolation->symbols, isolation->modules[place->module], place->address);
}

bool isolation_is_inlined(struct isolation *isolation, const struct isolate_place *place)
{
	struct isolate_place around = *place;

	around.around = 1;
	struct unit unit = isolation_place(isolation, &around, SITE_READ);
	bool is = unit.nsites && unit.sites[0].line;

	unit_free(&unit);
	return is;
}

/* Was the value, a constant, an argument of a function that was inlined there? */
static bool is_argument(struct isolation *isolation, const struct isolate_definition *definition)
{
	const struct isolate_place *place = &definition->place;

	if (!isolation->symbols)
		isolation->symbols = symbols_new();
	struct variables *variables =
		place->own && place->module < ISOLATE_MODULES
			? variables_at(isolation->symbols, isolation->modules[place->module], place->address)
			: NULL;
	bool is = variables && definition->value &&
		  variables_takes_constant(variables, definition->value, definition->size);

	variables_free(variables);
	return is;
}

struct isolate_place isolation_given(struct isolation *isolation, const struct isolate_use *use, size_t hop)
{
	while (hop + 1 < use->nhops && use->hops[hop].copied)
		hop++;
	const struct isolate_definition *definition = &use->hops[hop].definition;
	struct isolate_place none = { 0 }, around = definition->place;

	if (!definition->given.address)
		return none;
	around.around = 1;
	if (is_argument(isolation, definition))
		return around;
	return definition->given.own || takes_argument(isolation, &definition->place) ? definition->given
										      : none;
}

/* An argument comes into being where it is given, which no store tells: whoever first copies it in the function stands
 * for it. */
static size_t origin_from(struct isolation *isolation, const struct isolate_use *use, size_t first)
{
	size_t hop = first;

	while (hop + 1 < use->nhops && use->hops[hop].copied)
		hop++;
	while (hop > first && takes_argument(isolation, &use->hops[hop].definition.place))
		hop--;
	return hop;
}

/* A value that nobody wrote as a whole was overwritten: what was computed from it since is not to blame. Nor is what
 * was made of something that was read at a wrong place. */
size_t isolation_origin(struct isolation *isolation, const struct isolate_use *use)
{
	size_t first = 0;

	for (size_t i = 0; i < use->nhops; i++)
		if (use->hops[i].parts)
			return i;
	for (size_t i = 0; i + 1 < use->nhops; i++)
		if (use->hops[i].misread)
			first = i + 1;
	return origin_from(isolation, use, first);
}

static bool can_suppress(const struct isolate_use *use, size_t hop)
{
	const struct isolate_definition *definition = &use->hops[hop].definition;

	return (definition->definer == DEFINED_STORE || definition->definer == DEFINED_FREED ||
		definition->definer == DEFINED_KERNEL) &&
	       definition->instance;
}

size_t isolation_suppressible(struct isolation *isolation, const struct isolate_use *use)
{
	size_t origin = isolation_origin(isolation, use), hop = origin;

	while (!can_suppress(use, hop) && use->hops[hop].placed && hop + 1 < use->nhops)
		hop = origin_from(isolation, use, hop + 1);
	for (size_t i = hop + 1; i-- > 0;)
		if (can_suppress(use, i))
			return i;
	return use->nhops;
}

void isolation_free(struct isolation *isolation)
{
	VEC_FREE(&isolation->steps);
	for (size_t i = 0; i < isolation->experiments.n; i++)
		finding_accesses_free(&isolation->experiments.items[i].accesses);
	VEC_FREE(&isolation->experiments);
	finding_free(&isolation->finding);
	symbols_free(isolation->symbols);
	run_free(&isolation->original);
	free(isolation->led);
}
