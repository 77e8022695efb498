/* The list on the terminal. Every point has its place in the source, a sentence on
 * why it is there, and two columns: the communication that is odd and the usual one.
 */
#include "model/place.h"
#include "report/rank_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "report/text.h"
#include "report/words.h"

#define WIDTH 80
#define INDENT 6
#define COLUMN ((WIDTH - INDENT - 2) / 2)

static const struct site *find_site(const struct rank_view *view, uint32_t number)
{
	const struct site *site = NULL;
	struct error *error = number == SITE_NIL ? NULL : store_site(view->store, number, &site);

	error_free(error);
	return error ? NULL : site;
}

char *rank_view_does(const struct rank_view *view, uint32_t number, bool write)
{
	const struct site *site = find_site(view, number);

	if (!site)
		return memory_format("site #%u", number);
	_cleanup_free_ char *function = text_clean(site->function);
	_cleanup_free_ char *variable = text_clean(site->variable);

	return memory_format("%s %s%s%s", *function ? function : "?", write ? "writes" : "reads",
			     *variable ? " " : "", variable);
}

size_t rank_view_functions(const struct rank_view *view, size_t n)
{
	size_t distinct = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t function =
			view->graphs->points.items[view->result->points.items[i].point].function_number;
		bool known = false;

		for (size_t j = 0; j < i && !known; j++)
			known = view->graphs->points.items[view->result->points.items[j].point]
					.function_number == function;
		distinct += !known;
	}
	return distinct;
}

/* ---- why ---- */

static char *why_labelled(const struct rank_view *view, const struct rank_point *point)
{
	const struct edge *odd = &view->graphs->graph.edges[point->odd];
	_cleanup_free_ char *few =
		point->harmless ? memory_format("only %u", point->harmless) : memory_string("none");
	_cleanup_free_ char *seen = memory_format("In %u of %zu %s, in %s of %zu passed ones, ", point->runs,
						  view->failed, view->what_failed, few, view->passed);
	bool sink = view->graphs->graph.nodes[view->graphs->graph.sink[point->odd]].point == point->point;

	if (point->aftermath)
		return memory_format("Only %s ran this at all: probably what the program does once it has "
				     "failed.",
				     view->what_failed);
	if (point->silent)
		return memory_format("%sthe second access below came after the events in brackets. One of "
				     "them is a write over what another thread had read, and such a write is "
				     "made here.",
				     seen);
	if (point->depth == 0 && odd->source == SITE_NIL)
		return memory_format("%sit came before anybody had written there.", seen);
	if (point->depth == 0)
		return memory_format("%s%s.", seen,
				     sink ? "it met what this other access had written"
					  : "what it wrote reached this other access");
	return memory_format("%sit came after the events in brackets. The two accesses as such are usual; "
			     "when they meet is not.",
			     seen);
}

char *rank_view_why(const struct rank_view *view, const struct rank_point *point)
{
	if (!view->unlabelled)
		return why_labelled(view, point);
	const struct edge *odd = &view->graphs->graph.edges[point->odd];
	_cleanup_free_ char *seen = memory_format("%u of %zu runs", point->odd_runs, view->failed);

	if (odd->source == SITE_NIL)
		return memory_format("Rare: only %s came here before anybody had written.", seen);
	if (point->depth == 0)
		return memory_format("Rare: these two accesses met in %s only.", seen);
	return memory_format("Rare: this order of events was in %s only%s.", seen,
			     point->depth == GRAPH_USUAL ? ", the least of all at this place" : "");
}

/* ---- the two patterns ---- */

struct column {
	VEC(char *) lines;
};

static void column_add(struct column *column, char *line)
{
	*VEC_PUSH(&column->lines) = text_cut(line, COLUMN, false);
	free(line);
}

static void column_free(struct column *column)
{
	for (size_t i = 0; i < column->lines.n; i++)
		free(column->lines.items[i]);
	VEC_FREE(&column->lines);
}

/* The context with its last `telling` events in brackets. */
static char *mark_events(uint16_t context, unsigned kept, unsigned telling)
{
	char *events = words_context(context, kept);
	size_t length = strlen(events), marked = telling * 5 > length + 1 ? length + 1 : telling * 5;

	if (!telling || !strcmp(events, "-"))
		return events;
	size_t before = length + 1 - marked;
	char *result = memory_format("%.*s[%s]", (int)before, events, events + before);

	free(events);
	return result;
}

/* "account.c:54 deposit reads balance", without folders, then its context. */
static void column_access(const struct rank_view *view, struct column *column, uint32_t number, bool write,
			  uint16_t context, unsigned telling)
{
	const struct site *site = find_site(view, number);
	_cleanup_free_ char *does = rank_view_does(view, number, write);
	_cleanup_free_ char *events = mark_events(context, view->graphs->graph.events, telling);
	_cleanup_free_ char *at =
		site ? place_words(site->file, site->line, site->function) : memory_string("?");

	column_add(column, text_clean(at));
	column_add(column, memory_format("  %s", does));
	column_add(column, strcmp(events, "-") ? memory_format("  after %s", events)
					       : memory_string("  before any communication"));
}

static void column_edge(const struct rank_view *view, struct column *column, uint32_t number,
			unsigned telling)
{
	const struct edge *edge = &view->graphs->graph.edges[number];

	if (edge->source == SITE_NIL)
		column_add(column, memory_string("nobody has written there"));
	else
		column_access(view, column, edge->source, true, edge->source_context, telling);
	column_add(column, memory_format("%s", text_utf8() ? "\342\206\223" : "|"));
	column_access(view, column, edge->sink, edge->write, edge->sink_context, telling);
}

static void print_columns(const struct column *left, const struct column *right)
{
	for (size_t i = 0; i < left->lines.n || i < right->lines.n; i++) {
		bool both = i < right->lines.n;

		printf("%*s", INDENT, "");
		if (both)
			text_pad(stdout, i < left->lines.n ? left->lines.items[i] : "", COLUMN + 2, false);
		else
			printf("%s", left->lines.items[i]);
		printf("%s\n", both ? right->lines.items[i] : "");
	}
}

static void print_patterns(const struct rank_view *view, const struct rank_point *point)
{
	_cleanup_(column_free) struct column odd = { 0 }, usual = { 0 };
	unsigned telling = point->odd_depth == GRAPH_USUAL ? 0 : point->odd_depth;

	column_add(&odd, view->unlabelled
				 ? memory_format("RARE (%u of %zu runs)", point->odd_runs, view->failed)
				 : memory_format("FAILED (so in %u of %zu)", point->odd_runs, view->failed));
	column_edge(view, &odd, point->odd, telling);
	if (point->usual != GRAPH_NULL && point->usual != point->odd) {
		column_add(&usual, memory_format("USUAL (so in %u of %zu%s)", point->usual_runs,
						 view->unlabelled ? view->failed : view->passed,
						 view->unlabelled ? "" : " passed"));
		column_edge(view, &usual, point->usual, 0);
	} else {
		column_add(&usual, memory_string("USUAL"));
		column_add(&usual, memory_string("no communication here"));
	}
	print_columns(&odd, &usual);
}

/* ---- the list ---- */

static void print_point(struct rank_view *view, size_t i)
{
	const struct rank_point *point = &view->result->points.items[i];
	const struct code_point *place = &view->graphs->points.items[point->point];
	const char *slash = text_columns() ? strrchr(place->file, '/') : NULL; /* the line is short there */
	_cleanup_free_ char *path = slash ? text_clean(slash + 1) : text_path(place->file);
	_cleanup_free_ char *function = text_clean(place->function);
	_cleanup_free_ char *variable = text_clean(place->variable);
	_cleanup_free_ char *line =
		place->line ? excerpt_line(&view->excerpts, place->file, place->line) : NULL;
	_cleanup_free_ char *why = rank_view_why(view, point);
	_cleanup_free_ char *title =
		place->line ? memory_format("%s:%u:%u %s%s%s", path, place->line, place->column, function,
					    *variable ? ", " : "", variable)
			    : memory_format("%s %s, line unknown%s%s", path, function, *variable ? ", " : "",
					    variable);

	_cleanup_free_ char *cut_title = text_cut_line(title, 5);

	printf("\n%3zu. %s\n", i + 1, cut_title);
	printf("     score %.3f, inspections: %zu code point%s in %zu function%s\n", point->score, i + 1,
	       i ? "s" : "", rank_view_functions(view, i + 1),
	       rank_view_functions(view, i + 1) > 1 ? "s" : "");
	if (line) {
		_cleanup_free_ char *cut = text_cut(line, WIDTH - 7, false);

		printf("     | %s\n", cut);
	}
	printf("     ");
	options_fill(stdout, why, 5, 5);
	print_patterns(view, point);
}

static void print_head(const struct rank_view *view)
{
	const struct graph *graph = &view->graphs->graph;

	if (view->unlabelled)
		printf("%zu runs of campaign %llu, labels not used", view->failed,
		       (unsigned long long)view->graphs->campaign);
	else
		printf("%zu %s against %zu passed ones of campaign %llu", view->failed, view->what_failed,
		       view->passed, (unsigned long long)view->graphs->campaign);
	printf("; contexts of %u event%s\n", graph->events, graph->events == 1 ? "" : "s");
	if (view->graphs->machine)
		printf("as the caches of a simulated machine saw it\n");
	else if (view->graphs->line)
		printf("edges between cache lines\n");
	printf("%zu edges, %zu of them %s; %zu code point%s to look at\n", graph->nedges,
	       view->result->odd_edges, view->unlabelled ? "rare" : "in no passed run",
	       view->result->points.n, view->result->points.n == 1 ? "" : "s");
}

void rank_view_print(struct rank_view *view)
{
	size_t n = view->result->points.n;

	print_head(view);
	if (view->graphs->skipped)
		printf("%zu runs are left out: they were observed with another context or granularity\n",
		       view->graphs->skipped);
	for (size_t i = 0; i < n && i < view->top; i++)
		print_point(view, i);
	if (n > view->top)
		printf("\n%zu more (--top %zu shows all)\n", n - view->top, n);
	if (n)
		printf("\nLcRd: read what another thread had written. LcWr: wrote over what another had\n"
		       "written or read. RmRd, RmWr: another thread did so to this one's data. The\n"
		       "newest stands last.\n");
}
