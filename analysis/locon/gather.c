/* Reads what LOCON compares. Sites that stand for the same position in the
 * source, doing the same there, get one place.
 */
#include "analysis/locon/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint32_t larger(uint32_t most, uint32_t site)
{
	return site != SITE_NIL && site >= most ? site + 1 : most;
}

static void find_places(struct store *store, struct locon_data *data)
{
	const struct interned *known = &data->interned;
	_cleanup_(map_free) struct map numbers = { 0 };
	uint32_t n = 0, next = 0;

	for (size_t i = 0; i < known->npairs; i++)
		n = larger(larger(n, known->pairs[i].head_site), known->pairs[i].tail_site);
	for (size_t i = 0; i < known->npredecessors; i++)
		n = larger(n, known->predecessors[i].site);
	data->atomic = roaring_bitmap_create();
	data->frees = roaring_bitmap_create();
	data->places = memory_alloc((n + 1) * sizeof *data->places);
	data->sites = memory_alloc((n + 1) * sizeof *data->sites);
	for (uint32_t i = 0; i < n; i++) {
		const struct site *site = NULL;
		struct error *error = store_site(store, i, &site);
		uint64_t name[] = { i, UINT64_MAX };

		error_free(error);
		data->sites[i] = error ? NULL : site;
		if (!error && site->line) {
			/* What was inlined from a header is told apart by where it stands there. */
			name[0] = hash_string(hash_string(HASH_START, site->file),
					      site->through ? site->through : "");
			name[1] = (uint64_t)site->line << 32 | site->column << 4 | (unsigned)site->kind;
		}
		bool fresh;
		uint64_t *number = map_put(&numbers, hash_bytes(HASH_START, name, sizeof name), &fresh);

		if (fresh)
			*number = next++;
		data->places[i] = (uint32_t)*number;
		if (!error && site->atomic)
			roaring_bitmap_add(data->atomic, (uint32_t)*number);
		if (!error && site_frees(site))
			roaring_bitmap_add(data->frees, (uint32_t)*number);
	}
	data->input.atomic = data->atomic;
	data->input.frees = data->frees;
	data->input.nsites = n;
	data->input.nplaces = next;
}

/* Adds the places that ran, as the predecessors of a run tell. */
static void note_ran(const struct locon_data *data, const roaring_bitmap_t *predecessors,
		     roaring_bitmap_t *places)
{
	size_t n = (size_t)roaring_bitmap_get_cardinality(predecessors);
	_cleanup_free_ uint32_t *members = memory_alloc((n + 1) * sizeof *members);

	roaring_bitmap_to_uint32_array(predecessors, members);
	for (size_t i = 0; i < n; i++)
		if (members[i] < data->interned.npredecessors)
			roaring_bitmap_add(places,
					   data->places[data->interned.predecessors[members[i]].site]);
}

static void bitmap_freep(roaring_bitmap_t **bitmap)
{
	if (*bitmap)
		roaring_bitmap_free(*bitmap);
}

/* What ran is only known when all runs observed predecessors. */
static struct error *find_ran(struct store *store, struct locon_data *data)
{
	_cleanup_(bitmap_freep) roaring_bitmap_t *failed = NULL;
	_cleanup_(bitmap_freep) roaring_bitmap_t *all = roaring_bitmap_create();

	TRY(store_predecessor_set(store, data->run, &failed));
	if (roaring_bitmap_is_empty(failed))
		return NULL;
	for (size_t i = 0; i < data->input.npassed; i++) {
		_cleanup_(bitmap_freep) roaring_bitmap_t *one = NULL;

		TRY(store_predecessor_set(store, data->passed_runs[i], &one));
		if (roaring_bitmap_is_empty(one))
			return NULL;
		roaring_bitmap_or_inplace(all, one);
	}
	data->ran = roaring_bitmap_create();
	data->ran_passing = roaring_bitmap_create();
	note_ran(data, failed, data->ran);
	note_ran(data, all, data->ran_passing);
	data->input.ran = data->ran;
	data->input.ran_passing = data->ran_passing;
	return NULL;
}

static bool is_known(const struct locon_data *data, const roaring_bitmap_t *set)
{
	return roaring_bitmap_is_empty(set) || roaring_bitmap_maximum(set) < data->interned.npairs;
}

static struct error *read_passed(struct store *store, const struct run *runs, size_t n,
				 struct locon_data *data)
{
	data->passed_runs = memory_alloc((n + 1) * sizeof *data->passed_runs);
	data->passed = memory_alloc((n + 1) * sizeof *data->passed);
	for (size_t i = 0; i < n; i++) {
		if (runs[i].label != LABEL_PASS)
			continue;
		data->passed_all++;
		data->passed_empty += !runs[i].observations.npairs;
	}
	size_t usable = data->passed_all - data->passed_empty;
	size_t skip = usable > LOCON_MOST_RUNS ? usable - LOCON_MOST_RUNS : 0;

	for (size_t i = 0; i < n; i++) {
		if (runs[i].label != LABEL_PASS || !runs[i].observations.npairs || (skip && skip--))
			continue;
		size_t at = data->input.npassed;

		TRY(store_pair_set(store, runs[i].number, &data->passed[at]));
		data->input.npassed++;
		if (!is_known(data, data->passed[at]))
			return error_new(
				"run %llu names pairs that the store does not have: the store is damaged",
				(unsigned long long)runs[i].number);
		data->passed_runs[at] = runs[i].number;
	}
	data->input.passed = (const roaring_bitmap_t *const *)data->passed;
	return NULL;
}

static struct locon_run view(const struct run_pairs *pairs)
{
	return (struct locon_run){ pairs->pairs, pairs->indexes, pairs->npairs, pairs->couples,
				   pairs->ncouples };
}

static struct error *find_campaign(struct store *store, uint64_t number, uint64_t *campaign,
				   struct run **runs, size_t *n, uint64_t *dropped)
{
	struct campaign *campaigns;
	size_t ncampaigns;
	bool found = false;

	TRY(store_campaigns(store, &campaigns, &ncampaigns));
	struct error *error = NULL;

	for (size_t i = 0; i < ncampaigns; i++) {
		if (!found && !error)
			error = store_runs(store, campaigns[i].number, runs, n);
		for (size_t r = 0; !found && !error && r < *n; r++)
			if ((*runs)[r].number == number) {
				found = true;
				*campaign = campaigns[i].number;
				*dropped = (*runs)[r].observations.dropped;
			}
		for (size_t r = 0; !found && !error && r < *n; r++)
			run_free(&(*runs)[r]);
		if (!found && !error) {
			free(*runs);
			*runs = NULL;
			*n = 0;
		}
		campaign_free(&campaigns[i]);
	}
	free(campaigns);
	if (!error && !found)
		error = error_new("there is no run %llu; unsnarl runs lists those there are",
				  (unsigned long long)number);
	return error;
}

static struct error *read_all(struct store *store, const struct run *runs, size_t n, struct locon_data *data)
{
	TRY(store_interned(store, data->campaign, &data->interned));
	data->input.pairs = data->interned.pairs;
	data->input.npairs = data->interned.npairs;
	TRY(store_run_pairs(store, data->run, &data->failed));
	data->input.failed = view(&data->failed);
	find_places(store, data);
	data->input.places = data->places;
	for (size_t i = 0; i < n; i++)
		if (runs[i].number == data->run)
			data->input.cut_short = runs[i].outcome != OUTCOME_EXIT;
	TRY(read_passed(store, runs, n, data));
	if (data->input.npassed) {
		TRY(store_pair_order(store, data->passed_runs[data->input.npassed - 1], &data->reference,
				     &data->input.nreference));
		data->input.reference = data->reference;
	}
	return find_ran(store, data);
}

struct error *locon_gather(struct store *store, uint64_t run, struct locon_data *out)
{
	struct run *runs = NULL;
	size_t n = 0;

	*out = (struct locon_data){ .run = run };
	struct error *error = find_campaign(store, run, &out->campaign, &runs, &n, &out->dropped);

	if (!error)
		error = read_all(store, runs, n, out);
	for (size_t i = 0; i < n; i++)
		run_free(&runs[i]);
	free(runs);
	return error;
}

struct error *locon_gather_details(struct store *store, struct locon_data *data)
{
	if (data->details)
		return NULL;
	data->detailed = memory_alloc((data->input.npassed + 1) * sizeof *data->detailed);
	data->details = memory_alloc((data->input.npassed + 1) * sizeof *data->details);
	for (size_t i = 0; i < data->input.npassed; i++) {
		TRY(store_run_pairs(store, data->passed_runs[i], &data->detailed[i]));
		data->details[i] = view(&data->detailed[i]);
	}
	data->input.details = data->details;
	return NULL;
}

void locon_data_free(struct locon_data *data)
{
	for (size_t i = 0; i < data->input.npassed; i++) {
		if (data->passed[i])
			roaring_bitmap_free(data->passed[i]);
		if (data->detailed)
			run_pairs_free(&data->detailed[i]);
	}
	free(data->passed);
	free(data->detailed);
	free(data->details);
	free(data->passed_runs);
	run_pairs_free(&data->failed);
	free(data->reference);
	interned_free(&data->interned);
	bitmap_freep(&data->ran);
	bitmap_freep(&data->ran_passing);
	bitmap_freep(&data->atomic);
	bitmap_freep(&data->frees);
	free(data->places);
	free(data->sites);
	*data = (struct locon_data){ 0 };
}
