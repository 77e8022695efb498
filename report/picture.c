/* Writes the picture's text. Names from programs go through picture_escape, so no
 * label can end its string or bring attributes of its own.
 */
#include "report/picture.h"

#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "report/words.h"

char *picture_escape(const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);
	char *escaped = memory_alloc(2 * strlen(clean) + 1), *to = escaped;

	for (const char *at = clean; *at; at++) {
		if (*at == '"' || *at == '\\')
			*to++ = '\\';
		*to++ = *at;
	}
	return escaped;
}

struct choice {
	uint32_t edge;
	uint32_t runs;
	bool odd;
};

struct choices {
	VEC(struct choice) list;
	uint32_t *edge_runs, *passed_runs;
};

static int compare_choices(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->runs != y->runs)
		return x->runs > y->runs ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static bool chosen(const struct choices *choices, uint32_t edge)
{
	for (size_t i = 0; i < choices->list.n; i++)
		if (choices->list.items[i].edge == edge)
			return true;
	return false;
}

/* The edges of a point that most failed or, not odd, most passed runs have. */
static void choose(const struct rank_view *view, struct choices *choices, uint32_t point, bool odd,
		   size_t most)
{
	const struct graph *graph = &view->graphs->graph;
	VEC(struct choice) fit = { 0 };

	for (uint32_t edge = 0; edge < graph->nedges; edge++) {
		bool is_odd = choices->edge_runs[edge] && !choices->passed_runs[edge];
		uint32_t runs = odd ? choices->edge_runs[edge] : choices->passed_runs[edge];

		if (is_odd != odd || !runs)
			continue;
		GRAPH_EACH_POINT(graph, edge, at)
		if (at == point)
			*VEC_PUSH(&fit) = (struct choice){ edge, runs, odd };
	}
	if (fit.n)
		qsort(fit.items, fit.n, sizeof *fit.items, compare_choices);
	for (size_t i = 0; i < fit.n && i < most; i++)
		if (!chosen(choices, fit.items[i].edge))
			*VEC_PUSH(&choices->list) = fit.items[i];
	VEC_FREE(&fit);
}

static void count(uint32_t *counts, size_t nedges, roaring_bitmap_t *const *sets, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		roaring_uint32_iterator_t at;

		for (roaring_init_iterator(sets[i], &at); at.has_value && at.current_value < nedges;
		     roaring_advance_uint32_iterator(&at))
			counts[at.current_value]++;
	}
}

static void write_nodes(FILE *out, const struct rank_view *view, const uint8_t *used, uint32_t point)
{
	const struct graph *graph = &view->graphs->graph;
	const struct code_point *place = &view->graphs->points.items[point];
	const char *slash = strrchr(place->file, '/');
	_cleanup_free_ char *file = picture_escape(slash ? slash + 1 : place->file);
	_cleanup_free_ char *function = picture_escape(place->function);
	_cleanup_free_ char *variable = picture_escape(place->variable);
	size_t rank = 0;

	for (size_t i = 0; i < view->result->points.n && i < view->top; i++)
		if (view->result->points.items[i].point == point)
			rank = i + 1;
	fprintf(out, "\tsubgraph cluster_%u {\n\t\tlabel=\"", point);
	if (rank)
		fprintf(out, "%zu. ", rank);
	fprintf(out, "%s:%u:%u\\n%s%s%s\";\n\t\t%s\n", file, place->line, place->column, function,
		*variable ? "\\n" : "", variable,
		rank ? "color=\"#b00020\"; penwidth=1.5; style=rounded;"
		     : "color=\"#888888\"; style=rounded;");
	for (uint32_t node = 0; node < graph->nnodes; node++) {
		if (!used[node] || graph->nodes[node].point != point)
			continue;
		_cleanup_free_ char *context = words_context(graph->nodes[node].context, graph->events);

		fprintf(out, "\t\tn%u [label=\"%s\"];\n", node,
			strcmp(context, "-") ? context : "no events yet");
	}
	fprintf(out, "\t}\n");
}

static void write_edge(FILE *out, const struct rank_view *view, const struct choice *choice, size_t number)
{
	const struct graph *graph = &view->graphs->graph;
	const struct edge *edge = &graph->edges[choice->edge];

	if (edge->source == SITE_NIL) {
		fprintf(out, "\tnull%zu [shape=plaintext, style=\"\", label=\"not yet written\"];\n", number);
		fprintf(out, "\tnull%zu -> n%u", number, graph->sink[choice->edge]);
	} else {
		fprintf(out, "\tn%u -> n%u", graph->source[choice->edge], graph->sink[choice->edge]);
	}
	fprintf(out, " [label=\" %s %u/%zu\"%s];\n", edge->write ? "written over" : "read", choice->runs,
		choice->odd ? view->failed : view->passed,
		choice->odd ? ", color=\"#b00020\", fontcolor=\"#b00020\", penwidth=2"
			    : ", color=\"#777777\", fontcolor=\"#555555\", style=dashed");
}

static void write_graph(FILE *out, const struct rank_view *view, const struct choices *choices)
{
	const struct graph *graph = &view->graphs->graph;
	_cleanup_free_ uint8_t *used = memory_alloc(graph->nnodes + 1);
	_cleanup_free_ uint8_t *points = memory_alloc(graph->npoints + 1);

	fprintf(out, "digraph difference {\n"
		     "\tgraph [rankdir=LR, fontname=\"sans-serif\", fontsize=11, nodesep=0.15, ranksep=1.2,\n"
		     "\t       labelloc=t, label=\"red: only in failed runs (n of all failed); grey, dashed: "
		     "usual (n of all passed)\\nnodes: the last events of the thread, the newest last\"];\n"
		     "\tnode [shape=box, style=\"rounded,filled\", fillcolor=\"#f4f4f4\", "
		     "fontname=\"monospace\", fontsize=10];\n"
		     "\tedge [fontname=\"sans-serif\", fontsize=10];\n");
	for (size_t i = 0; i < choices->list.n; i++) {
		uint32_t ends[] = { graph->source[choices->list.items[i].edge],
				    graph->sink[choices->list.items[i].edge] };

		for (int end = 0; end < 2; end++)
			if (ends[end] != GRAPH_NULL)
				used[ends[end]] = points[graph->nodes[ends[end]].point] = 1;
	}
	for (uint32_t point = 0; point < graph->npoints; point++)
		if (points[point])
			write_nodes(out, view, used, point);
	for (size_t i = 0; i < choices->list.n; i++)
		write_edge(out, view, &choices->list.items[i], i);
	fprintf(out, "}\n");
}

void picture_write(FILE *out, const struct rank_view *view, size_t most)
{
	const struct graphs *graphs = view->graphs;
	struct choices choices = {
		.edge_runs = memory_alloc(graphs->graph.nedges * sizeof *choices.edge_runs + 1),
		.passed_runs = memory_alloc(graphs->graph.nedges * sizeof *choices.passed_runs + 1),
	};

	count(choices.edge_runs, graphs->graph.nedges, graphs->failed.items, graphs->failed.n);
	count(choices.passed_runs, graphs->graph.nedges, graphs->passed.items, graphs->passed.n);
	for (size_t i = 0; i < view->result->points.n && i < view->top; i++) {
		const struct rank_point *point = &view->result->points.items[i];

		if (!chosen(&choices, point->odd))
			*VEC_PUSH(&choices.list) =
				(struct choice){ point->odd, choices.edge_runs[point->odd], true };
		choose(view, &choices, point->point, true, most);
		choose(view, &choices, point->point, false, most);
	}
	write_graph(out, view, &choices);
	VEC_FREE(&choices.list);
	free(choices.edge_runs);
	free(choices.passed_runs);
}
