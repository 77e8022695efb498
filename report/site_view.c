/* Finds a site's observations among all those interned in a campaign, then asks
 * every run once which of them it showed.
 */
#include "report/site_view.h"

#include <stdlib.h>

/* The interned observations that concern one site: which bits of a run's bitmap,
 * and which item of the view each of them counts for. */
struct concern {
	roaring_bitmap_t *bits;
	VEC(size_t) items; /* in order of the bits */
};

struct search {
	struct site_view *view;
	struct concern pairs, predecessors, edges;
};

static void concern_add(struct concern *concern, size_t bit, size_t item)
{
	roaring_bitmap_add(concern->bits, (uint32_t)bit);
	*VEC_PUSH(&concern->items) = item;
}

/* The view's item for this kind and these sites, whatever the threads. */
static size_t pair_item(struct site_view *view, const struct pair_identity *pair)
{
	size_t i = 0;

	while (i < view->pairs.n && (view->pairs.items[i].kind != pair->kind ||
				     view->pairs.items[i].head_site != pair->head_site ||
				     view->pairs.items[i].tail_site != pair->tail_site))
		i++;
	if (i == view->pairs.n) {
		struct site_pair *item = VEC_PUSH(&view->pairs);

		item->kind = pair->kind;
		item->head_site = pair->head_site;
		item->tail_site = pair->tail_site;
	}
	*VEC_PUSH(&view->pairs.items[i].threads) =
		(struct site_threads){ pair->head_thread, pair->tail_thread };
	return i;
}

static void find_concerns(struct search *search, const struct interned *interned)
{
	struct site_view *view = search->view;
	uint32_t site = view->site;

	for (size_t i = 0; i < interned->npairs; i++)
		if (interned->pairs[i].head_site == site || interned->pairs[i].tail_site == site)
			concern_add(&search->pairs, i, pair_item(view, &interned->pairs[i]));
	for (size_t i = 0; i < interned->npredecessors; i++) {
		if (interned->predecessors[i].site != site)
			continue;
		VEC_PUSH(&view->predecessors)->before = interned->predecessors[i].before;
		concern_add(&search->predecessors, i, view->predecessors.n - 1);
	}
	for (size_t i = 0; i < interned->nedges; i++) {
		if (interned->edges[i].source != site && interned->edges[i].sink != site)
			continue;
		VEC_PUSH(&view->edges)->edge = interned->edges[i];
		concern_add(&search->edges, i, view->edges.n - 1);
	}
}

static void count(struct site_tally *tally, const struct run *run)
{
	if (tally->last == run->number)
		return;
	tally->last = run->number;
	tally->runs++;
	tally->failed += run->label == LABEL_FAIL;
}

/* Counts the run for every item it showed. `tallies` begin `stride` bytes apart. */
static bool count_shown(const struct concern *concern, const roaring_bitmap_t *shown, const struct run *run,
			void *tallies, size_t stride)
{
	_cleanup_free_ uint32_t *bits = memory_alloc((concern->items.n + 1) * sizeof *bits);
	bool any = false;

	roaring_bitmap_to_uint32_array(concern->bits, bits);
	for (size_t i = 0; i < concern->items.n; i++) {
		if (!roaring_bitmap_contains(shown, bits[i]))
			continue;
		count((struct site_tally *)((char *)tallies + concern->items.items[i] * stride), run);
		any = true;
	}
	return any;
}

static void count_run(struct search *search, const struct membership *shown, const struct run *run)
{
	struct site_view *view = search->view;
	bool any =
		count_shown(&search->pairs, shown->pairs, run, view->pairs.items, sizeof *view->pairs.items);

	any |= count_shown(&search->predecessors, shown->predecessors, run, view->predecessors.items,
			   sizeof *view->predecessors.items);
	any |= count_shown(&search->edges, shown->edges, run, view->edges.items, sizeof *view->edges.items);
	if (any)
		count(&view->tally, run);
}

static struct error *count_runs(struct store *store, uint64_t campaign, struct search *searches, size_t n)
{
	struct run *runs = NULL;
	size_t nruns = 0;
	struct error *error = store_runs(store, campaign, &runs, &nruns);

	for (size_t r = 0; r < nruns; r++) {
		struct membership shown = { 0 };

		if (!error)
			error = store_membership(store, runs[r].number, &shown);
		if (!error) {
			for (size_t i = 0; i < n; i++)
				count_run(&searches[i], &shown, &runs[r]);
			membership_free(&shown);
		}
		run_free(&runs[r]);
	}
	free(runs);
	return error;
}

static void search_start(struct search *search, struct site_view *view, uint32_t site)
{
	*view = (struct site_view){ .site = site };
	search->view = view;
	search->pairs.bits = roaring_bitmap_create();
	search->predecessors.bits = roaring_bitmap_create();
	search->edges.bits = roaring_bitmap_create();
}

static void concern_free(struct concern *concern)
{
	roaring_bitmap_free(concern->bits);
	VEC_FREE(&concern->items);
}

struct error *site_views_collect(struct store *store, uint64_t campaign, const uint32_t *sites, size_t n,
				 struct site_view *views, bool *found)
{
	struct interned interned = { 0 };
	struct search *searches = memory_alloc(n * sizeof *searches);

	*found = false;
	for (size_t i = 0; i < n; i++)
		search_start(&searches[i], &views[i], sites[i]);
	struct error *error = store_interned(store, campaign, &interned);

	for (size_t i = 0; !error && i < n; i++) {
		find_concerns(&searches[i], &interned);
		*found |= views[i].pairs.n || views[i].predecessors.n || views[i].edges.n;
	}
	if (!error && *found)
		error = count_runs(store, campaign, searches, n);
	for (size_t i = 0; i < n; i++) {
		concern_free(&searches[i].pairs);
		concern_free(&searches[i].predecessors);
		concern_free(&searches[i].edges);
	}
	free(searches);
	interned_free(&interned);
	return error;
}

void site_view_free(struct site_view *view)
{
	for (size_t i = 0; i < view->pairs.n; i++)
		VEC_FREE(&view->pairs.items[i].threads);
	VEC_FREE(&view->pairs);
	VEC_FREE(&view->predecessors);
	VEC_FREE(&view->edges);
}
