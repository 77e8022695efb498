/* Runs that were stored against runs that are read back, plainly: sites by their
 * ids, sets by looking for each member.
 */
#include "tests/store_world.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

uint64_t world_id(const struct observations *seen, uint32_t site)
{
	for (size_t i = 0; site != SITE_NIL && i < seen->nunits; i++) {
		const struct run_unit *unit = &seen->units[i];

		for (size_t u = 0; site >= unit->first && site - unit->first < unit->nsites; u++)
			if (world_unit_hash(u / WORLD_UNITS, u % WORLD_UNITS) == unit->hash)
				return world_site_id(u / WORLD_UNITS, u % WORLD_UNITS, site - unit->first);
	}
	assert_int_equal(site, SITE_NIL);
	return UINT64_MAX;
}

uint64_t world_stored_id(struct store *store, uint32_t number)
{
	const struct site *site;

	if (number == SITE_NIL)
		return UINT64_MAX;
	world_good(store_site(store, number, &site));
	return site->id;
}

static void check_loop(struct store *store, const struct observations *seen, const struct loop_point *was,
		       const struct loop_point *is)
{
	assert_true(world_id(seen, was->site) == world_stored_id(store, is->site));
	assert_true(was->entry == is->entry && was->iteration == is->iteration);
}

static void check_pairs(struct store *store, const struct observations *was, const struct observations *is)
{
	assert_int_equal(was->npairs, is->npairs);
	for (size_t i = 0; i < was->npairs; i++) {
		const struct pair *a = &was->pairs[i], *b = &is->pairs[i];

		assert_int_equal(a->kind, b->kind);
		assert_true(world_id(was, a->head_site) == world_stored_id(store, b->head_site));
		assert_true(world_id(was, a->tail_site) == world_stored_id(store, b->tail_site));
		assert_true(a->head_thread == b->head_thread && a->tail_thread == b->tail_thread);
		assert_true(a->head_order == b->head_order && a->tail_order == b->tail_order);
		assert_true(a->address == b->address);
		check_loop(store, was, &a->head_loop, &b->head_loop);
		check_loop(store, was, &a->tail_loop, &b->tail_loop);
	}
}

/* Sets: each of one side is on the other, and none is there twice. */
static void check_predecessors(struct store *store, const struct observations *was,
			       const struct observations *is)
{
	_cleanup_free_ unsigned char *hit = memory_alloc(is->npredecessors);
	size_t hits = 0;

	for (size_t i = 0; i < was->npredecessors; i++) {
		size_t at = 0;

		while (at < is->npredecessors &&
		       (world_id(was, was->predecessors[i].site) !=
				world_stored_id(store, is->predecessors[at].site) ||
			world_id(was, was->predecessors[i].before) !=
				world_stored_id(store, is->predecessors[at].before)))
			at++;
		assert_true(at < is->npredecessors);
		hits += !hit[at];
		hit[at] = 1;
	}
	assert_int_equal(hits, is->npredecessors);
}

static bool same_edge(struct store *store, const struct observations *was, const struct edge *a,
		      const struct edge *b)
{
	return a->source_context == b->source_context && a->sink_context == b->sink_context &&
	       a->write == b->write && world_id(was, a->source) == world_stored_id(store, b->source) &&
	       world_id(was, a->sink) == world_stored_id(store, b->sink);
}

static void check_edges(struct store *store, const struct observations *was, const struct observations *is)
{
	_cleanup_free_ unsigned char *hit = memory_alloc(is->nedges);
	size_t hits = 0;

	for (size_t i = 0; i < was->nedges; i++) {
		size_t at = 0;

		while (at < is->nedges && !same_edge(store, was, &was->edges[i], &is->edges[at]))
			at++;
		assert_true(at < is->nedges);
		hits += !hit[at];
		hit[at] = 1;
	}
	assert_int_equal(hits, is->nedges);
}

static void check_text(const char *was, const char *is)
{
	assert_true(!was == !is);
	if (was)
		assert_string_equal(was, is);
}

void world_check_run(struct store *store, const struct run *run, uint64_t campaign)
{
	const struct observations *was = &run->observations;
	uint64_t of = 0;
	struct run read;

	world_good(store_run(store, run->number, &read, &of));
	assert_true(of == campaign && read.number == run->number);
	assert_true(read.outcome == run->outcome && read.code == run->code && read.label == run->label);
	assert_true(read.wall_s == run->wall_s && read.cpu_s == run->cpu_s && read.peak_kib == run->peak_kib);
	assert_true(read.started == run->started && read.jitter_us == run->jitter_us);
	check_text(run->reason, read.reason);
	check_text(run->output, read.output);
	assert_true(read.observations.nthreads == was->nthreads &&
		    read.observations.nprocesses == was->nprocesses);
	assert_true(read.observations.dropped == was->dropped && read.observations.accesses == was->accesses);
	assert_true(read.observations.nunits == 0);
	check_pairs(store, was, &read.observations);
	check_predecessors(store, was, &read.observations);
	check_edges(store, was, &read.observations);
	run_free(&read);
}

void world_add_runs(struct world *world, struct store *store, uint64_t first, uint64_t n, size_t most)
{
	uint64_t campaign = world_campaign(store, "/p");

	for (uint64_t i = first; i < first + n; i++) {
		struct run run;

		world_run(world, i, most, &run);
		world_good(store_add(store, campaign, &run));
		assert_int_equal(run.number, i);
		run_free(&run);
	}
}

void world_check_runs(struct world *world, struct store *store, uint64_t n, size_t most)
{
	for (uint64_t i = 1; i <= n; i++) {
		struct run run;

		world_run(world, i, most, &run);
		run.number = i;
		world_check_run(store, &run, 1);
		run_free(&run);
	}
}

void world_read_all(struct store *store)
{
	struct campaign *campaigns = NULL;
	struct run *runs = NULL;
	struct interned interned = { 0 };
	struct membership membership = { 0 };
	uint32_t *sites = NULL;
	size_t ncampaigns = 0, nruns = 0, nsites = 0;

	error_free(store_campaigns(store, &campaigns, &ncampaigns));
	error_free(store_runs(store, 0, &runs, &nruns));
	error_free(store_sites_at(store, "u0.c", 10, 0, &sites, &nsites));
	error_free(store_interned(store, 1, &interned));
	for (uint64_t i = 1; i <= 12; i++) {
		struct run run = { 0 };
		_cleanup_free_ uint32_t *order = NULL;
		size_t n;

		error_free(store_run(store, i, &run, NULL));
		run_free(&run);
		error_free(store_pair_order(store, i, &order, &n));
		error_free(store_membership(store, i, &membership));
		membership_free(&membership);
	}
	while (ncampaigns)
		campaign_free(&campaigns[--ncampaigns]);
	while (nruns)
		run_free(&runs[--nruns]);
	free(campaigns);
	free(runs);
	free(sites);
	interned_free(&interned);
}
