/* Places of an isolation by name, and its end.
 */
#include "model/isolation.h"

struct unit isolation_place(struct isolation *isolation, const struct isolate_place *place,
			    enum site_kind kind)
{
	struct code_place code = { .address = place->address, .kind = kind };
	struct unit unit = { 0 };

	if (!isolation->symbols)
		isolation->symbols = symbols_new();
	if (place->address && place->module < ISOLATE_MODULES)
		symbols_unit(isolation->symbols, isolation->modules[place->module], &code, "", 0, &unit);
	return unit;
}

/* Is it the place where a function puts an argument that it was given? */
static bool takes_argument(struct isolation *isolation, const struct isolate_place *place)
{
	if (!isolation->symbols)
		isolation->symbols = symbols_new();
	return place->address && place->own && place->module < ISOLATE_MODULES &&
	       symbols_is_prologue(isolation->symbols, isolation->modules[place->module], place->address);
}

/* A value that nobody wrote as a whole was overwritten: what was computed from it since is not to blame. An argument
 * comes into being where it is given, which no store tells: whoever first copies it in the function stands for it. */
size_t isolation_origin(struct isolation *isolation, const struct isolate_use *use)
{
	size_t hop = 0;

	for (size_t i = 0; i < use->nhops; i++)
		if (use->hops[i].parts)
			return i;
	while (hop + 1 < use->nhops && use->hops[hop].copied)
		hop++;
	while (hop && takes_argument(isolation, &use->hops[hop].definition.place))
		hop--;
	return hop;
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
}
