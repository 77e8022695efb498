/* Draws a finding: one column per thread, one step per access, time goes down.
 * What comes from programs and paths is cleaned before it is printed.
 */
#include "model/place.h"
#include "report/finding_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "report/answer.h"
#include "report/lock_words.h"
#include "report/passing_words.h"
#include "report/sentence.h"
#include "report/text.h"

#define WIDTH 80
#define INDENT 3
#define STEP 3         /* columns for the number of a step */
#define MOST_COLUMNS 3 /* threads side by side; more are listed */
#define MOST_ACCESSES 12

struct lanes {
	size_t of[MOST_ACCESSES]; /* the lane of each access */
	size_t n;
	int width; /* of a column */
};

static bool find_lanes(const struct finding_accesses *accesses, struct lanes *lanes)
{
	lanes->n = sentence_lanes(accesses, lanes->of);
	lanes->width = (WIDTH - INDENT - STEP) / (int)(lanes->n ? lanes->n : 1);
	return lanes->n && lanes->n <= MOST_COLUMNS;
}

static char *thread_name(const struct finding_accesses *accesses, size_t i)
{
	uint32_t thread = accesses->items[i].thread;

	if (thread == FINDING_NO_THREAD)
		return sentence_thread(accesses, i);
	return thread ? memory_format("thread T%u", thread) : memory_string("main thread T0");
}

/* "write counter.c:77" */
static char *place(const struct finding_access *access)
{
	_cleanup_free_ char *words = place_words(access->file, access->line, access->function);
	_cleanup_free_ char *at = text_clean(words);

	if (access->role)
		return memory_format("%s%s %s", access->missing ? "stuck in " : "", access->role, at);
	return memory_format("%s %s%s", access->missing ? "never" : finding_verb(access),
			     access->missing ? (access->kind == SITE_WRITE ? "written: " : "read: ") : "",
			     at);
}

static void put_line(FILE *out, int column, int width, const char *clean)
{
	_cleanup_free_ char *cut = text_cut(clean, width, false);

	fprintf(out, "%*s%s\n", column, "", cut);
}

/* "called at table.c:80 insert"; ":80" in the same file */
static void draw_caller(const struct finding_access *access, int column, int width, FILE *out)
{
	bool same = !strcmp(access->caller.file, access->file);
	_cleanup_free_ char *words = same ? memory_format(":%u", access->caller.line)
					  : place_words(access->caller.file, access->caller.line, "");
	_cleanup_free_ char *at = text_clean(words);
	_cleanup_free_ char *cut = text_cut(at, width - (int)sizeof "called at", true);
	_cleanup_free_ char *called = memory_format("called at %s", cut);
	_cleanup_free_ char *function = text_clean(access->caller.function);
	_cleanup_free_ char *both = memory_format("%s %s", called, function);

	put_line(out, column, width, text_width(both) <= width ? both : called);
}

static void draw_step(const struct finding_access *access, size_t number, int lane, int width,
		      struct excerpts *excerpts, FILE *out)
{
	_cleanup_free_ char *where = place(access);
	_cleanup_free_ char *function = text_clean(access->line ? access->function : "");
	_cleanup_free_ char *both = memory_format("%s%s%s", where, *function ? " " : "", function);
	_cleanup_free_ char *line = excerpt_line(excerpts, access->file, access->line);
	bool fits = text_width(both) < width; /* else the function has a line of its own */
	_cleanup_free_ char *cut = text_cut(fits ? both : where, width - 1, false);
	int column = INDENT + STEP + lane * width;

	fprintf(out, "%*s%-*zu%*s%s\n", INDENT, "", STEP, number, lane * width, "", cut);
	if (!fits)
		put_line(out, column + 2, width - 3, function);
	if (line && *line)
		put_line(out, column + 2, width - 3, line);
	else if (*access->variable) {
		_cleanup_free_ char *variable = text_clean(access->variable);

		put_line(out, column + 2, width - 3, variable);
	}
	if (*access->through && !finding_frees(access)) {
		_cleanup_free_ char *name = text_clean(access->through);
		_cleanup_free_ char *through = memory_format("in %s", name);

		put_line(out, column + 2, width - 3, through);
	}
	if (access->caller.line)
		draw_caller(access, column + 2, width - 3, out);
}

/* "holds queue->lock since :31" */
static void draw_locks(const struct finding *finding, const struct finding_access *access, int column,
		       int width, struct excerpts *excerpts, FILE *out)
{
	if (!access->locks_known || !locks_any(finding))
		return;
	if (!access->locks.n)
		put_line(out, column, width, "holds no lock");
	for (size_t i = 0; i < access->locks.n; i++) {
		const struct finding_lock *lock = &access->locks.items[i];
		_cleanup_free_ char *name = lock_words(lock, excerpts);
		_cleanup_free_ char *holds = lock->line ? memory_format("holds %s", name)
							: memory_format("locked at %s", lock->function);
		_cleanup_free_ char *since = memory_format("since :%u", lock->line);
		_cleanup_free_ char *both =
			lock->line ? memory_format("%s %s", holds, since) : memory_string(holds);
		bool fits = !lock->line || text_width(both) <= width; /* where it was taken must not be cut */

		put_line(out, column, width, fits ? both : holds);
		if (!fits)
			put_line(out, column + 2, width - 2, since);
	}
}

static void draw_heads(const struct finding_accesses *accesses, const struct lanes *lanes, FILE *out)
{
	fprintf(out, "%*s", INDENT + STEP, "");
	for (size_t lane = 0; lane < lanes->n; lane++) {
		size_t first = 0;

		while (lanes->of[first] != lane)
			first++;
		_cleanup_free_ char *name = thread_name(accesses, first);

		if (lane + 1 < lanes->n)
			text_pad(out, name, lanes->width, false);
		else
			fprintf(out, "%s\n", name);
	}
}

void finding_draw(const struct finding *finding, struct excerpts *excerpts, FILE *out)
{
	struct lanes lanes;
	bool drawn = find_lanes(&finding->accesses, &lanes);
	size_t n = finding->accesses.n < MOST_ACCESSES ? finding->accesses.n : MOST_ACCESSES;

	if (drawn)
		draw_heads(&finding->accesses, &lanes, out);
	for (size_t i = 0; i < n; i++) {
		const struct finding_access *access = &finding->accesses.items[i];
		int lane = drawn ? (int)lanes.of[i] : 0, width = drawn ? lanes.width : WIDTH - INDENT - STEP;

		if (!drawn) {
			_cleanup_free_ char *name = thread_name(&finding->accesses, i);

			fprintf(out, "%*s%s\n", INDENT + STEP, "", name);
		}
		draw_step(access, i + 1, lane, width, excerpts, out);
		draw_locks(finding, access, INDENT + STEP + lane * width + 2, width - 3, excerpts, out);
	}
	if (n < finding->accesses.n)
		fprintf(out, "%*sand %zu more\n", INDENT + STEP, "", finding->accesses.n - n);
}

static void fill(FILE *out, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	fprintf(out, "%*s", INDENT, "");
	options_fill(out, clean, INDENT, INDENT);
}

/* "Passing: T2 write :77, T1 read :73, T1 write :77" */
static void put_otherwise(const struct finding *finding, FILE *out)
{
	char *text = memory_string("Order in passing runs: ");

	for (size_t i = 0; i < finding->otherwise.n && i < MOST_ACCESSES; i++) {
		const struct finding_access *access = &finding->otherwise.items[i];
		_cleanup_free_ char *at = place_words(access->file, access->line, access->function);
		char *longer = memory_format("%s%sT%u %s %s", text, i ? ", " : "", access->thread,
					     finding_verb(access), at);

		free(text);
		text = longer;
	}
	fill(out, text);
	free(text);
}

static char *variables(const struct finding *finding)
{
	char *text = memory_string("");

	for (size_t i = 0; i < finding->variables.n && i < 4; i++) {
		char *longer = memory_format("%s%s%s", text, i ? ", " : " on ", finding->variables.items[i]);

		free(text);
		text = longer;
	}
	return text;
}

void finding_print(const struct finding *finding, struct excerpts *excerpts, FILE *out)
{
	_cleanup_free_ char *on = variables(finding);
	_cleanup_free_ char *raw =
		memory_format("%u. %s%s", finding->rank, finding_class_words(finding->class), on);
	_cleanup_free_ char *clean = text_clean(raw);

	put_line(out, 0, WIDTH, clean);
	_cleanup_free_ char *sentence = sentence_for(finding);

	if (*sentence)
		fill(out, sentence);
	fputc('\n', out);
	finding_draw(finding, excerpts, out);
	fputc('\n', out);
	_cleanup_free_ char *instead = passing_words(finding);

	if (instead)
		fill(out, instead);
	if (finding->otherwise.n)
		put_otherwise(finding, out);
	if (finding->evidence)
		fill(out, finding->evidence);
	if (finding->schedule) {
		_cleanup_free_ char *schedule = memory_format("Schedule: %s", finding->schedule);

		fill(out, schedule);
	}
}

/* Locks that are held, by where they were taken; equal numbers are the same lock. */
static json_t *locks_json(const struct finding_access *access)
{
	json_t *array = json_array();

	for (size_t i = 0; i < access->locks.n; i++) {
		const struct finding_lock *lock = &access->locks.items[i];

		json_array_append_new(
			array,
			json_pack("{s:o, s:o, s:i, s:o, s:o}", "lock", answer_hex(lock->object), "file",
				  answer_text(lock->line ? lock->file : ""), "line", (int)lock->line,
				  "function", answer_text(lock->function), "given_back",
				  lock->given_back ? json_integer(lock->given_back) : json_null()));
	}
	return array;
}

static json_t *access_json(const struct finding_access *access)
{
	json_t *object = json_object();

	json_object_set_new(object, "thread",
			    access->thread == FINDING_NO_THREAD ? json_null() : json_integer(access->thread));
	json_object_set_new(object, "order", access->order ? answer_count(access->order) : json_null());
	json_object_set_new(object, "kind",
			    json_string(access->role ? access->role : site_kind_name(access->kind)));
	json_object_set_new(object, "file", answer_text(access->line ? access->file : ""));
	json_object_set_new(object, "line", json_integer(access->line));
	json_object_set_new(object, "column", json_integer(access->column));
	json_object_set_new(object, "function", answer_text(access->function));
	json_object_set_new(object, "variable", answer_text(access->variable));
	json_object_set_new(object, "through", *access->through ? answer_text(access->through) : json_null());
	json_object_set_new(object, "called",
			    access->caller.line
				    ? json_pack("{s:o, s:i, s:o}", "file", answer_text(access->caller.file),
						"line", (int)access->caller.line, "function",
						answer_text(access->caller.function))
				    : json_null());
	json_object_set_new(object, "missing", json_boolean(access->missing));
	json_object_set_new(object, "locks", access->locks_known ? locks_json(access) : json_null());
	return object;
}

static json_t *accesses_json(const struct finding_accesses *accesses)
{
	json_t *array = json_array();

	for (size_t i = 0; i < accesses->n; i++)
		json_array_append_new(array, access_json(&accesses->items[i]));
	return array;
}

json_t *finding_json(const struct finding *finding)
{
	json_t *object = json_object(), *names = json_array(), *blocks = json_array(), *runs = json_object();

	for (size_t i = 0; i < finding->variables.n; i++)
		json_array_append_new(names, answer_text(finding->variables.items[i]));
	for (size_t i = 0; i < finding->blocks.n; i++)
		json_array_append_new(blocks, answer_text(finding->blocks.items[i]));
	json_object_set_new(runs, "passed", answer_count(finding->runs.passed));
	json_object_set_new(runs, "failed", answer_count(finding->runs.failed));
	json_object_set_new(object, "rank", json_integer(finding->rank));
	json_object_set_new(object, "class", json_string(finding_class_name(finding->class)));
	json_object_set_new(object, "scenario",
			    finding->scenario ? json_integer(finding->scenario) : json_null());
	json_object_set_new(object, "pattern", json_string(finding_scenario_pattern(finding->scenario)));
	json_object_set_new(object, "method", answer_text(finding->method));
	json_object_set_new(object, "score", json_real(finding->score));
	json_object_set_new(object, "variables", names);
	json_object_set_new(object, "blocks", blocks);
	json_object_set_new(object, "accesses", accesses_json(&finding->accesses));
	_cleanup_free_ char *sentence = sentence_for(finding);

	json_object_set_new(object, "summary", answer_text(*sentence ? sentence : finding->summary));
	_cleanup_free_ char *instead = passing_words(finding);

	json_object_set_new(object, "instead", answer_text(instead));
	json_object_set_new(object, "passing_order", accesses_json(&finding->otherwise));
	json_object_set_new(object, "evidence", answer_text(finding->evidence));
	json_object_set_new(object, "run", finding->run ? answer_count(finding->run) : json_null());
	json_object_set_new(object, "runs", runs);
	json_object_set_new(object, "schedule", answer_text(finding->schedule));
	return object;
}

json_t *findings_json(const struct findings *findings)
{
	json_t *array = json_array();

	for (size_t i = 0; i < findings->n; i++)
		json_array_append_new(array, finding_json(&findings->items[i]));
	return array;
}
