/* unsnarl locate --falcon: the baseline's ranking on the same runs.
 * unsnarl locate --sensitivity: how the answer changes with the number of
 * passing runs (LOCON, section 6.3).
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/falcon.h"
#include "analysis/locon/ask.h"
#include "cmds/cmds.h"
#include "cmds/locate.h"
#include "report/answer.h"
#include "report/finding_view.h"
#include "report/grid.h"
#include "report/locate_words.h"
#include "report/text.h"

#define STEP 10

struct locon_request locate_request(const struct locate_options *options, const struct locon_data *data)
{
	return (struct locon_request){
		.procedure = options->procedure == LOCATE_ANY ? LOCON_DEFAULT : options->procedure + 1,
		.level = options->level == LOCATE_ANY ? -1 : (int)options->level,
		.top = options->top,
		.run = data->run,
		.sites = data->sites,
	};
}

struct error *locate_find_run(struct store *store, uint64_t campaign, uint64_t number, struct run *out)
{
	struct run *runs;
	size_t n;

	TRY(store_runs(store, campaign, &runs, &n));
	for (size_t i = 0; i < n; i++) {
		if (runs[i].number == number)
			*out = runs[i];
		else
			run_free(&runs[i]);
	}
	free(runs);
	return NULL;
}

/* A pattern as a finding. */
static void add_pattern(const struct locon_data *data, const struct falcon_pattern *pattern,
			struct findings *out)
{
	const struct pair *first = &data->input.failed.pairs[pattern->first];
	const struct pair *last =
		pattern->last == LOCON_NONE ? NULL : &data->input.failed.pairs[pattern->last];
	struct explain_pattern drawn = {
		.class = last ? FINDING_ATOMICITY : FINDING_ORDER,
		.scenario = last                             ? falcon_triple(first, last)
			    : first->kind == PAIR_WRITE_READ ? 1
			    : first->kind == PAIR_READ_WRITE ? 2
							     : 3,
	};
	struct finding *finding = VEC_PUSH(out);

	explain_add(&drawn, first);
	if (last)
		explain_add(&drawn, last);
	explain_sort(&drawn);
	finding->rank = (unsigned)out->n;
	finding->class = drawn.class;
	finding->scenario = drawn.scenario;
	finding->method = memory_string("falcon");
	finding->score = pattern->score;
	finding->run = data->run;
	finding->runs.passed = data->input.npassed;
	finding->runs.failed = 1;
	finding->evidence = locate_falcon_words(pattern->passed, data->input.npassed, pattern->score);
	for (size_t i = 0; i < drawn.nevents; i++) {
		struct finding_access *access = finding_add_access(&finding->accesses, drawn.events[i].site,
								   data->sites[drawn.events[i].site]);

		access->thread = drawn.events[i].thread;
		access->order = drawn.events[i].order;
		access->kind = drawn.events[i].write ? SITE_WRITE : SITE_READ;
		finding_add_variable(finding, access->variable);
	}
}

static void falcon_json(const struct campaign *campaign, const struct locon_data *data, size_t patterns,
			size_t best, const struct findings *findings)
{
	json_t *object = answer_new("locate"), *head = answer_campaign(campaign);

	json_object_update(object, head);
	json_decref(head);
	json_object_set_new(object, "run", answer_count(data->run));
	json_object_set_new(object, "method", json_string("falcon"));
	json_object_set_new(object, "passed", answer_count(data->input.npassed));
	json_object_set_new(object, "patterns", answer_count(patterns));
	json_object_set_new(object, "highest", answer_count(best));
	json_object_set_new(object, "findings", findings_json(findings));
	answer_print(object);
}

struct error *locate_falcon(struct store *store, const struct locate_options *options,
			    const struct campaign *campaign, const struct run *run, struct locon_data *data,
			    int *status)
{
	_cleanup_(findings_free) struct findings findings = { 0 };
	struct falcon_patterns patterns;
	struct locon locon;
	size_t best = 0, n;

	TRY(locon_gather_details(store, data));
	locon_open(&locon, &data->input);
	falcon_rank(&locon, &patterns);
	while (best < patterns.n && patterns.items[best].score == patterns.items[0].score)
		best++;
	for (size_t i = 0; i < patterns.n && i < options->top; i++)
		add_pattern(data, &patterns.items[i], &findings);
	n = patterns.n;
	VEC_FREE(&patterns);
	locon_close(&locon);
	*status = findings.n > 0;
	if (options->json) {
		falcon_json(campaign, data, n, best, &findings);
		return NULL;
	}
	_cleanup_free_ char *program = memory_string(campaign->program);
	struct excerpts excerpts = { .folder = memory_string(dirname(program)) };

	printf("Run %llu failed; Falcon on the same runs: %zu patterns, %zu with the highest score.\n",
	       (unsigned long long)run->number, n, best);
	for (size_t i = 0; i < findings.n; i++) {
		putchar('\n');
		finding_print(&findings.items[i], &excerpts, stdout);
	}
	excerpt_free(&excerpts);
	return NULL;
}

struct point {
	size_t runs, suspects;
	unsigned procedure;
	enum locon_level level;
	char *first; /* the first finding, for comparison; NULL */
};

static struct error *measure(struct store *store, struct locon_data *data,
			     const struct locon_request *request, size_t runs, struct point *out)
{
	_cleanup_(locon_answer_free) struct locon_answer answer = { 0 };
	size_t all = data->input.npassed;

	data->input.npassed = runs;
	struct error *error = locon_ask(store, data, request, &answer);

	data->input.npassed = all;
	if (error)
		return error;
	*out = (struct point){ runs, answer.suspects, answer.procedure, answer.level, NULL };
	if (!answer.findings.n)
		return NULL;
	const struct finding_accesses *accesses = &answer.findings.items[0].accesses;

	out->first = memory_string("");
	for (size_t i = 0; i < accesses->n; i++) {
		char *longer = memory_format("%s%s%s:%u", out->first, i ? " " : "",
					     accesses->items[i].kind == SITE_WRITE ? "W" : "R",
					     accesses->items[i].line);

		free(out->first);
		out->first = longer;
	}
	return NULL;
}

static void sensitivity_print(const struct point *points, size_t n)
{
	static const struct grid_column columns[] = { { "runs", true, false },
						      { "procedure", false, false },
						      { "suspects", true, false },
						      { "first finding", false, true },
						      { NULL, false, false } };
	struct grid grid = { .columns = columns };

	for (size_t i = 0; i < n; i++) {
		grid_cell(&grid, "%zu", points[i].runs);
		grid_cell(&grid, "%s%s%s",
			  points[i].procedure ? locon_procedure_name(points[i].procedure) : "-",
			  points[i].procedure == LOCON_III ? " " : "",
			  points[i].procedure == LOCON_III ? locon_level_name(points[i].level) : "");
		grid_cell(&grid, "%zu", points[i].suspects);
		grid_cell(&grid, "%s", points[i].first ? points[i].first : "-");
	}
	grid_print(&grid, stdout, 2, 80);
	grid_free(&grid);
}

static void sensitivity_json(const struct campaign *campaign, const struct run *run,
			     const struct point *points, size_t n)
{
	json_t *object = answer_new("locate"), *head = answer_campaign(campaign), *array = json_array();

	json_object_update(object, head);
	json_decref(head);
	json_object_set_new(object, "run", answer_count(run->number));
	for (size_t i = 0; i < n; i++) {
		json_t *point = json_object();

		json_object_set_new(point, "passed", answer_count(points[i].runs));
		json_object_set_new(point, "procedure",
				    points[i].procedure
					    ? json_string(locon_procedure_name(points[i].procedure))
					    : json_null());
		json_object_set_new(point, "suspects", answer_count(points[i].suspects));
		json_object_set_new(point, "first", answer_text(points[i].first));
		json_array_append_new(array, point);
	}
	json_object_set_new(object, "sensitivity", array);
	answer_print(object);
}

struct error *locate_sensitivity(struct store *store, const struct locate_options *options,
				 const struct campaign *campaign, const struct run *run,
				 struct locon_data *data)
{
	const struct locon_request request = locate_request(options, data);
	size_t all = data->input.npassed, n = 0;
	_cleanup_free_ struct point *points = memory_alloc((all / STEP + 2) * sizeof *points);
	struct error *error = NULL;

	/* All of them now: later only some of the runs are looked at. */
	TRY(locon_gather_details(store, data));
	for (size_t runs = STEP; runs < all && !error; runs += STEP)
		error = measure(store, data, &request, runs, &points[n++]);
	if (!error)
		error = measure(store, data, &request, all, &points[n++]);
	if (!error && options->json)
		sensitivity_json(campaign, run, points, n);
	else if (!error) {
		printf("Run %llu, compared with the first 10, 20 … of %zu passing runs:\n",
		       (unsigned long long)run->number, all);
		sensitivity_print(points, n);
	}
	for (size_t i = 0; i < n; i++)
		free(points[i].first);
	return error;
}
