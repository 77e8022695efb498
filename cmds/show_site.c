/* unsnarl show SITE: what a campaign knows of an access: its pairs as head and
 * as tail, its belonging set and its edges, each with the runs that showed it.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "cmds/show.h"
#include "report/answer.h"
#include "report/listing.h"
#include "report/site_view.h"
#include "report/text.h"
#include "report/words.h"

#define MOST_THREADS 4  /* thread pairs named below a pair */
#define MOST_CONTEXTS 8 /* contexts shown of an edge, unless --all */

struct show_sites {
	struct store *store;
	const struct show_options *options;
	const struct campaign *campaign;
	struct site_view *views;
	size_t n;
	struct listing listing;
};

static bool wanted(const struct show_options *options, bool one)
{
	return one || options->all || !(options->pairs || options->predecessors || options->edges);
}

static char *tally_words(const struct site_tally *tally)
{
	_cleanup_free_ char *runs = words_count(tally->runs, "run", "runs");

	if (!tally->failed)
		return memory_string(runs);
	return memory_format("%s, %llu failed", runs, (unsigned long long)tally->failed);
}

static void note_pair(struct listing *listing, const struct site_pair *pair)
{
	_cleanup_free_ char *tally = tally_words(&pair->tally);
	char *threads = memory_string("");

	for (size_t i = 0; i < pair->threads.n && i < MOST_THREADS; i++) {
		char *longer =
			memory_format("%s%sT%u%sT%u", threads, i ? ", " : "", pair->threads.items[i].head,
				      text_arrow(), pair->threads.items[i].tail);

		free(threads);
		threads = longer;
	}
	if (pair->threads.n > MOST_THREADS)
		listing_note(listing, "#%u %s #%u: %s; %s and %zu more", pair->head_site, text_arrow(),
			     pair->tail_site, tally, threads, pair->threads.n - MOST_THREADS);
	else
		listing_note(listing, "#%u %s #%u: %s; %s", pair->head_site, text_arrow(), pair->tail_site,
			     tally, threads);
	free(threads);
}

static void print_pairs(struct show_sites *show, const struct site_view *view, bool head)
{
	struct listing *listing = &show->listing;
	size_t n = 0;

	for (size_t i = 0; i < view->pairs.n; i++) {
		const struct site_pair *pair = &view->pairs.items[i];

		if ((head ? pair->head_site : pair->tail_site) != view->site)
			continue;
		n++;
		listing_pair(listing, "",
			     &(struct pair){ .kind = pair->kind,
					     .head_site = pair->head_site,
					     .tail_site = pair->tail_site,
					     .head_thread = LISTING_NO_THREAD,
					     .tail_thread = LISTING_NO_THREAD });
		note_pair(listing, pair);
	}
	if (n)
		printf("\nPairs that %s with it (%zu):\n", head ? "begin" : "end", n);
	else
		printf("\nNo pair %s with it.\n", head ? "begins" : "ends");
	listing_print(listing, stdout);
}

static void print_predecessors(struct show_sites *show, const struct site_view *view)
{
	if (view->predecessors.n)
		printf("\nBelonging set (%zu): the last access by another thread before it\n",
		       view->predecessors.n);
	else
		printf("\nNo predecessors were recorded.\n");
	for (size_t i = 0; i < view->predecessors.n; i++) {
		uint32_t before = view->predecessors.items[i].before;
		_cleanup_free_ char *tally = tally_words(&view->predecessors.items[i].tally);

		listing_access(&show->listing, "after", before, LISTING_NO_THREAD, NULL);
		if (before == SITE_NIL)
			listing_note(&show->listing, "%s", tally);
		else
			listing_note(&show->listing, "#%u: %s", before, tally);
	}
	listing_print(&show->listing, stdout);
}

/* Edges with the same ends together, those seen in most runs first. */
static int compare_edges(const void *a, const void *b)
{
	const struct site_edge *x = a, *y = b;
	int ends = listing_compare_ends(&x->edge, &y->edge);

	if (ends)
		return ends;
	return (x->tally.runs < y->tally.runs) - (x->tally.runs > y->tally.runs);
}

static void print_edges(struct show_sites *show, const struct site_view *view, unsigned events)
{
	struct site_edge *edges = view->edges.items;
	size_t n = view->edges.n, shown = 0;

	if (!n) {
		printf("\nNo edges were recorded.\n");
		return;
	}
	qsort(edges, n, sizeof *edges, compare_edges);
	printf("\nEdges with contexts, oldest event first (%zu):\n", n);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *tally = tally_words(&edges[i].tally);
		_cleanup_free_ char *after = memory_format("  %s", tally);

		if (i == 0 || listing_compare_ends(&edges[i].edge, &edges[i - 1].edge)) {
			listing_access(&show->listing, "", edges[i].edge.source, LISTING_NO_THREAD, NULL);
			listing_access(&show->listing, text_arrow(), edges[i].edge.sink, LISTING_NO_THREAD,
				       NULL);
			shown = 0;
		}
		if (++shown <= MOST_CONTEXTS || show->options->all)
			listing_contexts(&show->listing, &edges[i].edge, events, after);
		else if (i + 1 == n || listing_compare_ends(&edges[i].edge, &edges[i + 1].edge))
			listing_note(&show->listing, "and %zu more contexts (--all)", shown - MOST_CONTEXTS);
	}
	listing_print(&show->listing, stdout);
}

static bool known(const struct site_view *view)
{
	return view->pairs.n || view->predecessors.n || view->edges.n;
}

/* How many events the runs kept, judged by the contexts of all these edges. */
static unsigned events_kept(const struct site_view *view)
{
	unsigned most = 0;

	for (size_t i = 0; i < view->edges.n; i++) {
		unsigned events = words_context_events(&view->edges.items[i].edge, 1);

		most = events > most ? events : most;
	}
	return most;
}

static struct error *print_site(struct show_sites *show, const struct site_view *view)
{
	const struct show_options *options = show->options;
	const struct site *site;

	TRY(store_site(show->store, view->site, &site));
	_cleanup_free_ char *path = text_path(site->file);
	_cleanup_free_ char *function = text_clean(site->function);
	_cleanup_free_ char *variable = text_clean(site->variable);
	_cleanup_free_ char *line = excerpt_line(&show->listing.excerpts, site->file, site->line);

	printf("Site #%u: %s:%u:%u%s%s\n  %s%s%s", view->site, path, site->line, site->column,
	       *function ? " in " : "", function, site_kind_name(site->kind), *variable ? " of " : "",
	       variable);
	if (site->size)
		printf(", %u byte%s", site->size, site->size == 1 ? "" : "s");
	putchar('\n');
	if (line && *line) {
		_cleanup_free_ char *cut = text_cut_line(line, 4);

		printf("  | %s\n", cut);
	}
	printf("  took part in %llu of %llu runs and in %llu of %llu that failed\n",
	       (unsigned long long)view->tally.runs, (unsigned long long)show->campaign->runs,
	       (unsigned long long)view->tally.failed, (unsigned long long)show->campaign->failed);
	if (wanted(options, options->pairs)) {
		print_pairs(show, view, true);
		print_pairs(show, view, false);
	}
	if (wanted(options, options->predecessors))
		print_predecessors(show, view);
	if (wanted(options, options->edges))
		print_edges(show, view, events_kept(view));
	return NULL;
}

/* Loops, calls, and accesses that never ran or belong to another build. */
static struct error *print_unknown(const struct show_sites *show)
{
	const struct site *site;
	size_t n = 0;

	for (size_t i = 0; i < show->n; i++) {
		if (known(&show->views[i]))
			continue;
		TRY(store_site(show->store, show->views[i].site, &site));
		if (site->kind != SITE_SYNC && site->kind != SITE_ALLOCATION)
			printf("%s#%u", n++ ? ", " : "\nAlso there, but not observed in this campaign: ",
			       show->views[i].site);
	}
	if (n)
		putchar('\n');
	for (size_t i = 0; i < show->n; i++) {
		TRY(store_site(show->store, show->views[i].site, &site));
		_cleanup_free_ char *variable = text_clean(site->variable);

		if (site->kind == SITE_SYNC || site->kind == SITE_ALLOCATION)
			printf("\nAlso there: #%u, a call of %s\n", show->views[i].site, variable);
	}
	return NULL;
}

static struct error *print_text(struct show_sites *show)
{
	_cleanup_free_ char *command = words_command(show->campaign, 20);
	_cleanup_free_ char *program = memory_string(show->campaign->program);
	struct error *error = NULL;

	show->listing = (struct listing){ .store = show->store, .width = text_columns() };
	show->listing.excerpts.folder = memory_string(dirname(program));
	printf("In campaign %llu: %s\n", (unsigned long long)show->campaign->number, command);
	for (size_t i = 0; i < show->n && !error; i++) {
		if (!known(&show->views[i]))
			continue;
		putchar('\n');
		error = print_site(show, &show->views[i]);
	}
	if (!error)
		error = print_unknown(show);
	listing_free(&show->listing);
	return error;
}

static void set_tally(json_t *object, const struct site_tally *tally)
{
	json_object_set_new(object, "runs",
			    json_pack("{s:o, s:o}", "passed", answer_count(tally->runs - tally->failed),
				      "failed", answer_count(tally->failed)));
}

static json_t *json_pairs(struct store *store, const struct site_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->pairs.n; i++) {
		const struct site_pair *pair = &view->pairs.items[i];
		json_t *object = json_object(), *threads = json_array();

		for (size_t k = 0; k < pair->threads.n; k++)
			json_array_append_new(threads,
					      json_pack("[I, I]", (json_int_t)pair->threads.items[k].head,
							(json_int_t)pair->threads.items[k].tail));
		json_object_set_new(object, "kind", json_string(words_pair(pair->kind)));
		json_object_set_new(object, "head", answer_site(store, pair->head_site));
		json_object_set_new(object, "tail", answer_site(store, pair->tail_site));
		json_object_set_new(object, "threads", threads);
		set_tally(object, &pair->tally);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *json_site(struct show_sites *show, const struct site_view *view)
{
	const struct show_options *options = show->options;
	json_t *object = answer_site(show->store, view->site), *array, *item;
	unsigned events = events_kept(view);

	set_tally(object, &view->tally);
	if (wanted(options, options->pairs))
		json_object_set_new(object, "pairs", json_pairs(show->store, view));
	if (wanted(options, options->predecessors)) {
		json_object_set_new(object, "predecessors", array = json_array());
		for (size_t i = 0; i < view->predecessors.n; i++) {
			json_array_append_new(array, item = json_object());
			json_object_set_new(item, "before",
					    answer_site(show->store, view->predecessors.items[i].before));
			set_tally(item, &view->predecessors.items[i].tally);
		}
	}
	if (wanted(options, options->edges)) {
		json_object_set_new(object, "edges", array = json_array());
		for (size_t i = 0; i < view->edges.n; i++) {
			item = answer_edge(show->store, &view->edges.items[i].edge, events);
			set_tally(item, &view->edges.items[i].tally);
			json_array_append_new(array, item);
		}
	}
	return object;
}

static struct error *print_json(struct show_sites *show)
{
	json_t *answer = answer_new("show"), *head = answer_campaign(show->campaign), *array = json_array();

	set_tally(head,
		  &(struct site_tally){ .runs = show->campaign->runs, .failed = show->campaign->failed });
	json_object_update(answer, head);
	json_decref(head);
	json_object_set_new(answer, "sites", array);
	for (size_t i = 0; i < show->n; i++)
		json_array_append_new(array, json_site(show, &show->views[i]));
	answer_print(answer);
	return NULL;
}

/* Why there is nothing to tell: an access that never ran, a loop, or a call that synchronises. */
static struct error *nothing_seen(struct store *store, const struct show_options *options, const char *name,
				  const uint32_t *sites, size_t n)
{
	const struct site *site = NULL;

	for (size_t i = 0; i < n; i++) {
		TRY(store_site(store, sites[i], &site));
		if (site->kind != SITE_LOOP && site->kind != SITE_SYNC && site->kind != SITE_ALLOCATION)
			return error_new("nothing was observed at %s in any run%s", name,
					 options->campaign ? " of that campaign" : "");
	}
	if (site->kind == SITE_LOOP)
		return error_new("%s is the head of a loop; show the lines of the accesses in it", name);
	_cleanup_free_ char *variable = text_clean(site->variable);

	return error_new("%s is a call of %s: only accesses to memory have pairs and predecessors; show the "
			 "lines of the accesses around it",
			 name, variable);
}

struct error *show_sites(struct store *store, const struct show_options *options, const char *name,
			 const uint32_t *sites, size_t n)
{
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	struct show_sites show = { .store = store, .options = options, .n = n };
	struct error *error = NULL;
	bool found = false;

	TRY(cmds_campaigns(store, options->campaign, &campaigns));
	TRY(cmds_campaigns_recent(store, &campaigns));
	show.views = memory_alloc(n * sizeof *show.views);
	for (size_t i = 0; i < campaigns.n && !found && !error; i++) {
		for (size_t k = 0; k < n; k++)
			site_view_free(&show.views[k]);
		show.campaign = &campaigns.items[i];
		error = site_views_collect(store, show.campaign->number, sites, n, show.views, &found);
	}
	if (!error && !found)
		error = nothing_seen(store, options, name, sites, n);
	if (!error)
		error = (options->json ? print_json : print_text)(&show);
	for (size_t k = 0; k < n; k++)
		site_view_free(&show.views[k]);
	free(show.views);
	return error;
}
