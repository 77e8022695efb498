/* The end of a story in which threads wait for each other: who has what, who
 * wants it, and the signal that came too early.
 */
#include "model/place.h"
#include "report/story.h"

#include <string.h>

#include "base/memory.h"
#include "report/answer.h"
#include "report/excerpt.h"
#include "report/text.h"

/* "main (a.c:12)", or "an unknown place". */
char *story_place(const struct story *story, uint64_t id)
{
	const struct site *site = id ? atlas_find(story->atlas, id) : NULL;

	if (!site)
		return memory_string("a place that is not known");
	_cleanup_free_ char *at = place_words(site->file, site->line, site->function);
	_cleanup_free_ char *text =
		site->line ? memory_format("%s in %s", at, site->function) : memory_string(at);

	return text_clean(text);
}

void story_print_line(const struct story *story, uint64_t id, FILE *out)
{
	const struct site *site = id ? atlas_find(story->atlas, id) : NULL;
	struct excerpts excerpts = { 0 };
	_cleanup_free_ char *line = site ? excerpt_line(&excerpts, site->file, site->line) : NULL;
	_cleanup_free_ char *cut = line ? text_cut(line, 68, false) : NULL;

	if (cut)
		fprintf(out, "         | %s\n", cut);
	excerpt_free(&excerpts);
}

static void print_wait(const struct story *story, const struct schedule_wait *wait, FILE *out)
{
	_cleanup_free_ char *where = story_place(story, wait->site);

	if (wait->kind == WAITING_JOIN)
		fprintf(out, "  T%u waits for the end of a thread at %s\n", wait->thread, where);
	else
		fprintf(out, "  T%u waits for %s %u at %s\n", wait->thread, schedule_waiting_name(wait->kind),
			wait->object, where);
	story_print_line(story, wait->site, out);
	if (wait->fork_site) {
		_cleanup_free_ char *fork = story_place(story, wait->fork_site);

		fprintf(out, "     it is the child of the fork at %s\n", fork);
	}
	if (wait->holder != THREAD_NONE) {
		_cleanup_free_ char *since = story_place(story, wait->holder_site);

		if (wait->kind == WAITING_JOIN)
			fprintf(out, "     which is T%u\n", wait->holder);
		else if (wait->fork_site)
			fprintf(out, "     which T%u of the parent had then, since %s\n", wait->holder,
				since);
		else
			fprintf(out, "     which T%u has had since %s\n", wait->holder, since);
		if (wait->kind != WAITING_JOIN)
			story_print_line(story, wait->holder_site, out);
	}
	if (wait->missed_site) {
		_cleanup_free_ char *signal = story_place(story, wait->missed_site);

		fprintf(out, "     the signal came before, when nobody waited: T%u at %s\n",
			wait->missed_thread, signal);
		story_print_line(story, wait->missed_site, out);
	}
	if (wait->taken_site) {
		_cleanup_free_ char *signal = story_place(story, wait->taken_site);
		_cleanup_free_ char *taker = story_place(story, wait->taker_site);

		fprintf(out, "     the last signal that came meanwhile, by T%u at %s,\n     woke T%u at %s\n",
			wait->taken_thread, signal, wait->taker_thread, taker);
		story_print_line(story, wait->taken_site, out);
	}
}

static const struct schedule_wait *wait_of(const struct schedule *schedule, uint32_t thread)
{
	for (size_t i = 0; i < schedule->nwaits; i++)
		if (schedule->waits[i].thread == thread)
			return &schedule->waits[i];
	return NULL;
}

/* The cycle that begins with the thread, as "T1 → T2 → T1"; NULL when there is none. */
static char *cycle_from(const struct schedule *schedule, uint32_t thread)
{
	char *text = memory_format("T%u", thread);
	uint32_t at = thread;

	for (size_t steps = 0; steps < schedule->nwaits; steps++) {
		const struct schedule_wait *wait = wait_of(schedule, at);

		if (!wait || wait->holder == THREAD_NONE)
			break;
		char *longer = memory_format("%s %s T%u", text, text_arrow(), wait->holder);

		cleanup_free(&text);
		text = longer;
		at = wait->holder;
		if (at == thread)
			return text;
	}
	cleanup_free(&text);
	return NULL;
}

void story_print_waits(const struct story *story, FILE *out)
{
	const struct schedule *schedule = story->schedule;

	if (!schedule->nwaits)
		return;
	for (size_t i = 0; i < schedule->nwaits; i++) {
		_cleanup_free_ char *cycle = cycle_from(schedule, schedule->waits[i].thread);

		if (!cycle)
			continue;
		fprintf(out, "The cycle: %s (each waits for what the next one has).\n", cycle);
		break;
	}
	fprintf(out, "At the end no thread can go on:\n");
	for (size_t i = 0; i < schedule->nwaits; i++)
		print_wait(story, &schedule->waits[i], out);
	fprintf(out, "\n");
}

static json_t *json_place(const struct story *story, uint64_t id)
{
	const struct site *site = id ? atlas_find(story->atlas, id) : NULL;

	if (!site)
		return json_null();
	json_t *object = json_object();

	json_object_set_new(object, "file", answer_text(site->file));
	json_object_set_new(object, "line", json_integer(site->line));
	json_object_set_new(object, "column", json_integer(site->column));
	json_object_set_new(object, "function", answer_text(site->function));
	return object;
}

/* One entry for what a thread has, wants or gave. */
void story_add_access(json_t *array, const struct story *story, uint32_t thread, const char *kind,
		      uint64_t id)
{
	json_t *entry = json_place(story, id);

	if (json_is_null(entry))
		return;
	json_object_set_new(entry, "thread", json_integer(thread));
	json_object_set_new(entry, "order", json_integer((json_int_t)json_array_size(array) + 1));
	json_object_set_new(entry, "kind", json_string(kind));
	json_array_append_new(array, entry);
}

json_t *story_json_waits(const struct story *story)
{
	const struct schedule *schedule = story->schedule;
	json_t *array = json_array();

	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *wait = &schedule->waits[i];

		if (wait->holder != THREAD_NONE && wait->holder_site)
			story_add_access(array, story, wait->holder, "lock", wait->holder_site);
		if (wait->missed_site)
			story_add_access(array, story, wait->missed_thread, "signal", wait->missed_site);
	}
	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *wait = &schedule->waits[i];

		story_add_access(array, story, wait->thread,
				 wait->kind == WAITING_MUTEX || wait->kind == WAITING_READ_LOCK ||
						 wait->kind == WAITING_WRITE_LOCK ||
						 wait->kind == WAITING_SPINLOCK
					 ? "lock"
					 : "wait",
				 wait->site);
	}
	story_json_fault(story, array);
	return array;
}

#define TURNS_EACH_END 1000u /* of a schedule, in JSON: a livelock has millions */

json_t *story_json_turns(const struct story *story)
{
	static const char *const stops[] = { "last", "preempted", "blocked", "ended", "yielded" };
	const struct schedule *schedule = story->schedule;
	json_t *array = json_array();

	for (size_t i = 0; i < schedule->nturns; i++) {
		const struct schedule_turn *turn = &schedule->turns[i];

		if (i == TURNS_EACH_END && schedule->nturns > 2 * TURNS_EACH_END) {
			i = schedule->nturns - TURNS_EACH_END - 1;
			json_array_append_new(
				array, json_pack("{s:o}", "omitted", answer_count(i + 1 - TURNS_EACH_END)));
			continue;
		}
		if (turn->wake)
			continue;
		json_array_append_new(array,
				      json_pack("{s:i, s:o, s:s, s:o}", "thread", (int)turn->thread, "points",
						answer_count(turn->points), "stop",
						stops[(unsigned)turn->stop <= STOP_YIELDED ? turn->stop : 0],
						"before", json_place(story, turn->site)));
	}
	return array;
}
