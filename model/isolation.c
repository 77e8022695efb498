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
