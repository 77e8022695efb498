/* Builds findings from points. The method does not tell atomicity from order; it takes
 * for order what was read or written before or after it is usually written at all.
 */
#include "report/rank_answer.h"

#include <string.h>

#include "report/answer.h"
#include "report/finding_view.h"

static void add_access(const struct rank_view *view, struct finding *finding, struct finding_accesses *list,
		       uint32_t number, bool write)
{
	const struct site *site = NULL;
	struct error *error = store_site(view->store, number, &site);
	struct finding_access *access = finding_add_access(list, number, error ? NULL : site);

	access->thread = FINDING_NO_THREAD;
	access->kind = write ? SITE_WRITE : SITE_READ;
	if (!error)
		finding_add_variable(finding, site->variable);
	error_free(error);
}

static void add_edge(const struct rank_view *view, struct finding *finding, struct finding_accesses *list,
		     const struct edge *edge)
{
	if (edge->source != SITE_NIL)
		add_access(view, finding, list, edge->source, true);
	add_access(view, finding, list, edge->sink, edge->write);
}

static bool starts_unwritten(const struct rank_view *view, uint32_t edge)
{
	return edge != GRAPH_NULL && view->graphs->graph.edges[edge].source == SITE_NIL;
}

void rank_finding(const struct rank_view *view, size_t i, struct finding *out)
{
	const struct rank_point *point = &view->result->points.items[i];
	const struct edge *edges = view->graphs->graph.edges;
	const struct code_point *place = &view->graphs->points.items[point->point];
	_cleanup_free_ char *why = rank_view_why(view, point);

	*out = (struct finding){
		.rank = (unsigned)i + 1,
		.class = starts_unwritten(view, point->odd) != starts_unwritten(view, point->usual)
				 ? FINDING_ORDER
				 : FINDING_ATOMICITY,
		.method = memory_string("bugaboo"),
		.score = point->score,
		.summary = memory_format("%s:%u: %s", place->file, place->line, why),
		.evidence = memory_format("%u of %zu %s show this edge, %u of %zu the usual one.",
					  point->odd_runs, view->failed, view->what_failed, point->usual_runs,
					  view->unlabelled ? view->failed : view->passed),
		.runs = { .passed = view->passed, .failed = view->failed },
	};
	if (point->silent)
		add_access(view, out, &out->accesses, place->site, true);
	add_edge(view, out, &out->accesses, &edges[point->odd]);
	/* Read before it was written: the write that it usually sees had yet to come. */
	if (starts_unwritten(view, point->odd) && !edges[point->odd].write && point->usual != GRAPH_NULL &&
	    edges[point->usual].source != SITE_NIL && !edges[point->usual].write) {
		add_access(view, out, &out->accesses, edges[point->usual].source, true);
		out->scenario = 2;
	}
	if (point->usual != GRAPH_NULL) {
		add_edge(view, out, &out->otherwise, &edges[point->usual]);
		out->passing.kind = PASSING_OTHER_MOMENT;
	}
}

static json_t *point_json(const struct rank_view *view, size_t i)
{
	const struct rank_point *point = &view->result->points.items[i];
	const struct graph *graph = &view->graphs->graph;
	const struct code_point *place = &view->graphs->points.items[point->point];
	struct finding finding;
	json_t *at = json_object();

	rank_finding(view, i, &finding);
	json_t *object = finding_json(&finding);

	finding_free(&finding);
	json_object_set_new(at, "file", answer_text(place->file));
	json_object_set_new(at, "line", json_integer(place->line));
	json_object_set_new(at, "column", json_integer(place->column));
	json_object_set_new(at, "function", answer_text(place->function));
	json_object_set_new(object, "point", at);
	json_object_set_new(object, "inspections", json_integer((json_int_t)i + 1));
	json_object_set_new(object, "functions", answer_count(rank_view_functions(view, i + 1)));
	json_object_set_new(object, "rarity", json_real(point->rarity));
	json_object_set_new(object, "contexts", json_integer(point->contexts));
	json_object_set_new(object, "context_needed",
			    point->depth == GRAPH_USUAL ? json_null() : json_integer(point->depth));
	json_object_set_new(object, "aftermath", json_boolean(point->aftermath));
	json_object_set_new(object, "silent", json_boolean(point->silent));
	json_object_set_new(object, "odd",
			    answer_edge(view->store, &graph->edges[point->odd], graph->events));
	json_object_set_new(object, "odd_runs", json_integer(point->odd_runs));
	json_object_set_new(object, "usual",
			    point->usual == GRAPH_NULL
				    ? json_null()
				    : answer_edge(view->store, &graph->edges[point->usual], graph->events));
	json_object_set_new(object, "usual_runs", json_integer(point->usual_runs));
	return object;
}

json_t *rank_answer(const struct rank_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->result->points.n && i < view->top; i++)
		json_array_append_new(array, point_json(view, i));
	return array;
}
