/* Groups of accesses and their shares. */
#include "analysis/invariant/bias.h"

#include <stdlib.h>

#include "base/hash.h"

static int by_share(const void *left, const void *right)
{
	const struct bias_group *a = left, *b = right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->group < b->group ? -1 : a->group > b->group;
}

void bias_groups(const struct guard_set *set, double most, struct bias *out)
{
	struct map known = { 0 };

	*out = (struct bias){ 0 };
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		const struct guard_site *site = guard_set_site(set, number);
		bool fresh;
		uint64_t *at = map_put(&known, site->group, &fresh);

		if (fresh) {
			*at = out->groups.n;
			*VEC_PUSH(&out->groups) =
				(struct bias_group){ .group = site->group, .sample = number };
		}
		struct bias_group *group = &out->groups.items[*at];

		if (site->count > guard_set_site(set, group->sample)->count)
			group->sample = number;
		group->sites++;
		group->count += site->count;
		out->count += site->count;
	}
	map_free(&known);
	for (size_t i = 0; i < out->groups.n; i++) {
		struct bias_group *group = &out->groups.items[i];

		group->share = out->count ? (double)group->count / (double)out->count : 0;
		group->left_out = group->share > most;
	}
	if (out->groups.n)
		qsort(out->groups.items, out->groups.n, sizeof *out->groups.items, by_share);
}

void bias_free(struct bias *bias)
{
	VEC_FREE(&bias->groups);
}

void bias_apply(const struct guard_set *set, const struct bias *bias, struct guard_set *out)
{
	_cleanup_free_ bool *keep = memory_alloc((set->sites.n + 1) * sizeof *keep);
	struct map left_out = { 0 };

	for (size_t i = 0; i < bias->groups.n; i++)
		if (bias->groups.items[i].left_out)
			map_put(&left_out, bias->groups.items[i].group, NULL);
	for (uint32_t number = 1; number <= set->sites.n; number++)
		keep[number] = !map_get(&left_out, guard_set_site(set, number)->group);
	map_free(&left_out);
	guard_set_choose(set, keep, out);
}
