/* Builds the findings. A point's accesses are the two ends of its odd edge, in the
 * order in which they happened.
 */
#include "report/rank_answer.h"

#include <string.h>

#include "report/answer.h"

static const char *class_name(const struct rank_view *view, const struct rank_point *point)
{
	const struct edge *odd = &view->graphs->graph.edges[point->odd];
	bool unwritten = odd->source == SITE_NIL;
	bool usually =
		point->usual != GRAPH_NULL && view->graphs->graph.edges[point->usual].source == SITE_NIL;

	/* Something was read before it was written, or the other way round. */
	return unwritten != usually ? "order-violation" : "atomicity-violation";
}

static json_t *access_of(const struct rank_view *view, uint32_t site, bool write)
{
	json_t *object = answer_site(view->store, site);

	json_object_set_new(object, "thread", json_null());
	json_object_set_new(object, "order", json_null());
	json_object_set_new(object, "kind", json_string(write ? "write" : "read"));
	return object;
}

static json_t *variables_of(const struct rank_view *view, const struct edge *edge)
{
	json_t *array = json_array();
	const uint32_t ends[] = { edge->source, edge->sink };
	const char *first = "";

	for (int i = 0; i < 2; i++) {
		const struct site *site;
		struct error *error =
			ends[i] == SITE_NIL ? error_new("nil") : store_site(view->store, ends[i], &site);

		if (!error && *site->variable && strcmp(site->variable, first)) {
			json_array_append_new(array, answer_text(site->variable));
			first = site->variable;
		}
		error_free(error);
	}
	return array;
}

static json_t *finding_of(const struct rank_view *view, size_t i)
{
	const struct rank_point *point = &view->result->points.items[i];
	const struct graph *graph = &view->graphs->graph;
	const struct edge *odd = &graph->edges[point->odd];
	const struct code_point *place = &view->graphs->points.items[point->point];
	_cleanup_free_ char *why = rank_view_why(view, point);
	json_t *object = json_object(), *accesses = json_array(), *at;

	if (odd->source != SITE_NIL)
		json_array_append_new(accesses, access_of(view, odd->source, true));
	json_array_append_new(accesses, access_of(view, odd->sink, odd->write));
	json_object_set_new(object, "rank", json_integer((json_int_t)i + 1));
	json_object_set_new(object, "class", json_string(class_name(view, point)));
	json_object_set_new(object, "method", json_string("bugaboo"));
	json_object_set_new(object, "score", json_real(point->score));
	json_object_set_new(object, "variables", variables_of(view, odd));
	json_object_set_new(object, "accesses", accesses);
	json_object_set_new(object, "summary", answer_text(why));
	json_object_set_new(object, "runs",
			    json_pack("{s:I, s:I}", "passed", (json_int_t)view->passed, "failed",
				      (json_int_t)view->failed));
	json_object_set_new(object, "schedule", json_null());
	at = json_object();
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
	json_object_set_new(object, "odd", answer_edge(view->store, odd, graph->events));
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
		json_array_append_new(array, finding_of(view, i));
	return array;
}
