/* What a run taught, as rows of accesses: pairs in order of occurrence,
 * predecessors by access, edges by their two ends.
 */
#include <stdlib.h>
#include <string.h>

#include "report/listing.h"
#include "report/text.h"
#include "report/words.h"

static char *loop_words(struct listing *listing, const struct loop_point *loop)
{
	if (loop->site == LOOP_NONE)
		return memory_string("no loop");
	_cleanup_free_ char *location = listing_location(listing, loop->site);

	if (loop->iteration == ITERATION_UNKNOWN)
		return memory_format("loop %s, entry %llu", location, (unsigned long long)loop->entry);
	return memory_format("loop %s, entry %llu, iteration %llu", location, (unsigned long long)loop->entry,
			     (unsigned long long)loop->iteration);
}

static void pair_details(struct listing *listing, const struct pair *pair)
{
	_cleanup_free_ char *head = loop_words(listing, &pair->head_loop);
	_cleanup_free_ char *tail = loop_words(listing, &pair->tail_loop);

	listing_note(listing, "at 0x%llx, access %llu of T%u %s access %llu of T%u",
		     (unsigned long long)pair->address, (unsigned long long)pair->head_order,
		     pair->head_thread, text_arrow(), (unsigned long long)pair->tail_order,
		     pair->tail_thread);
	if (pair->head_loop.site == LOOP_NONE && pair->tail_loop.site == LOOP_NONE)
		return;
	listing_note(listing, "%s", head);
	listing_note(listing, "%s %s", text_arrow(), tail);
}

static const char *action(struct listing *listing, const struct pair *pair, bool head)
{
	static const struct site unknown = { .kind = SITE_READ };
	const struct site *site;
	struct error *error = store_site(listing->store, head ? pair->head_site : pair->tail_site, &site);

	if (error)
		site = &unknown;
	error_free(error);
	return head ? words_head(pair->kind, site) : words_tail(pair->kind, site);
}

void listing_pair(struct listing *listing, const char *lead, const struct pair *pair)
{
	listing_access(listing, lead, pair->head_site, pair->head_thread, action(listing, pair, true));
	listing_access(listing, text_arrow(), pair->tail_site, pair->tail_thread,
		       action(listing, pair, false));
}

void listing_pairs(struct listing *listing, const struct pair *pairs, size_t n, bool details)
{
	for (size_t i = 0; i < n; i++) {
		char number[32];

		snprintf(number, sizeof number, "%zu", i + 1);
		listing_pair(listing, number, &pairs[i]);
		if (details)
			pair_details(listing, &pairs[i]);
	}
}

static int compare_predecessors(const void *a, const void *b)
{
	const struct predecessor *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	/* nil is UINT32_MAX; adding one puts it first. */
	return x->before + 1 < y->before + 1 ? -1 : x->before != y->before;
}

void listing_predecessors(struct listing *listing, const struct predecessor *predecessors, size_t n)
{
	_cleanup_free_ struct predecessor *sorted = memory_alloc(n * sizeof *sorted);

	if (n)
		memcpy(sorted, predecessors, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare_predecessors);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || sorted[i].site != sorted[i - 1].site)
			listing_access(listing, "", sorted[i].site, LISTING_NO_THREAD, NULL);
		listing_access(listing, "after", sorted[i].before, LISTING_NO_THREAD, NULL);
	}
}

int listing_compare_ends(const struct edge *a, const struct edge *b)
{
	if (a->source != b->source)
		return a->source + 1 < b->source + 1 ? -1 : 1;
	if (a->sink != b->sink)
		return a->sink < b->sink ? -1 : 1;
	return (a->write > b->write) - (a->write < b->write);
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	int ends = listing_compare_ends(x, y);

	if (ends)
		return ends;
	if (x->source_context != y->source_context)
		return x->source_context < y->source_context ? -1 : 1;
	return (x->sink_context > y->sink_context) - (x->sink_context < y->sink_context);
}

void listing_contexts(struct listing *listing, const struct edge *edge, unsigned events, const char *after)
{
	_cleanup_free_ char *source = words_context(edge->source_context, events);
	_cleanup_free_ char *sink = words_context(edge->sink_context, events);

	if (edge->source == SITE_NIL) {
		listing_note(listing, "%s%s", sink, after);
	} else if (events <= 6) {
		listing_note(listing, "%s %s %s%s", source, text_arrow(), sink, after);
	} else {
		listing_note(listing, "%s", source);
		listing_note(listing, "%s %s%s", text_arrow(), sink, after);
	}
}

void listing_edges(struct listing *listing, const struct edge *edges, size_t n)
{
	_cleanup_free_ struct edge *sorted = memory_alloc(n * sizeof *sorted);
	unsigned events = words_context_events(edges, n);
	size_t group = 0;

	if (n)
		memcpy(sorted, edges, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare_edges);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || listing_compare_ends(&sorted[i], &sorted[i - 1])) {
			char number[32];

			snprintf(number, sizeof number, "%zu", ++group);
			listing_access(listing, number, sorted[i].source, LISTING_NO_THREAD, NULL);
			listing_access(listing, text_arrow(), sorted[i].sink, LISTING_NO_THREAD, NULL);
		}
		listing_contexts(listing, &sorted[i], events, "");
	}
}
