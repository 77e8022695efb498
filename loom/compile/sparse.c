/* Sparse builds, for the monitor in the field (BUGABOO, section 5): observed as others are,
 * but only at the accesses that a guard set names, those that shared memory in testing.
 * Which accesses these are is known when all of the unit have been seen. */
#include "loom/compile/guard_weave.h"

/* One in `sample` of the others is observed as well, the same ones in every build of the same source. */
static bool is_sampled(const struct weave *weave, size_t index)
{
	uint64_t stirred = (weave->source.unit ^ (index + 1)) * 0x9e3779b97f4a7c15u;
	return weave->options->sample && (stirred >> 32) % weave->options->sample == 0;
}

struct error *sparse_choose(struct weave *weave)
{
	struct guarded_unit unit = { 0 };
	if (!weave->options->sparse)
		return NULL;
	guard_unit_collect(weave, &unit);
	struct error *error = guard_unit_match(weave, weave->options->sparse, &unit);
	for (size_t i = 0; !error && i < unit.accesses.n; i++)
		if (unit.accesses.items[i].site || is_sampled(weave, i))
			map_put(&weave->chosen,
				(uint64_t)(uintptr_t)unit.accesses.items[i].access.instruction, NULL);
	/* The sites that count are those that get hooks. */
	table_free(&weave->table);
	weave->table = (struct table){ 0 };
	VEC_FREE(&unit.accesses);
	return error;
}

void sparse_keep(struct weave *weave)
{
	size_t kept = 0;
	bool starts = false;
	for (size_t i = 0; weave->options->sparse && i < weave->accesses.n; i++) {
		struct access access = weave->accesses.items[i];
		/* A stretch begins with the first access that is left of it. */
		access.starts |= starts;
		starts = access.starts;
		if (!map_get(&weave->chosen, (uint64_t)(uintptr_t)access.instruction))
			continue;
		weave->accesses.items[kept++] = access;
		starts = false;
	}
	if (weave->options->sparse)
		weave->accesses.n = kept;
}
