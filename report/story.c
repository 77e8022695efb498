/* Threads side by side, one column each, time going down. Of what a thread did in
 * a turn only accesses to data that threads share are told, and of many only the
 * first and the last. Without a trace the places where turns end must do.
 */
#include "report/story.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "report/excerpt.h"
#include "report/text.h"

#define WIDTH 79
#define COLUMNS_MOST 3 /* with more threads the columns become too narrow: one below the other */
#define FIRST_LINES 2  /* told of a turn with many lines */
#define LAST_LINES 4
#define TURNS_MOST 24 /* the last ones of a long story */

struct line {
	const struct site *site;
	bool write;
	uint64_t times;
};

struct scene { /* turns of one thread in a row */
	uint32_t thread;
	VEC(struct line) lines;
	const struct schedule_turn *last;
};

struct telling {
	const struct story *story;
	FILE *out;
	struct excerpts excerpts;
	VEC(struct scene) scenes;
	VEC(uint32_t) threads; /* in order of appearance */
	struct map shared;     /* address >> 3 to 1: one thread, 3: several, one of them wrote */
};

/* For each address who touched it: threads in the high bits, written in bit 0, several in bit 1. */
static void find_shared(struct telling *telling)
{
	const struct observations *o = telling->story->traced;

	for (size_t i = 0; o && i < o->nevents; i++) {
		bool fresh;
		uint64_t *who = map_put(&telling->shared, o->events[i].address >> 3, &fresh);
		uint64_t thread = (uint64_t)o->events[i].thread << 2;

		if (fresh)
			*who = thread;
		if (*who >> 2 != thread >> 2)
			*who |= 2;
		*who |= o->events[i].write;
	}
}

static bool is_shared(const struct telling *telling, const struct event *event)
{
	const uint64_t *who = map_get(&telling->shared, event->address >> 3);

	return who && (*who & 3) == 3;
}

static void add_line(struct scene *scene, const struct site *site, bool write)
{
	struct line *last = scene->lines.n ? &scene->lines.items[scene->lines.n - 1] : NULL;

	if (last && last->site->line == site->line && !strcmp(last->site->file, site->file)) {
		last->write |= write;
		last->times++;
		return;
	}
	*VEC_PUSH(&scene->lines) = (struct line){ .site = site, .write = write, .times = 1 };
}

/* Takes the events of the scene's thread up to the first of another one. */
static size_t take_events(const struct telling *telling, struct scene *scene, size_t at)
{
	const struct observations *o = telling->story->traced;

	for (; o && at < o->nevents && o->events[at].thread == scene->thread; at++) {
		const struct site *site = atlas_number(telling->story->atlas, o->events[at].site);

		if (site && is_shared(telling, &o->events[at]))
			add_line(scene, site, o->events[at].write);
	}
	return at;
}

static void note_thread(struct telling *telling, uint32_t thread)
{
	for (size_t i = 0; i < telling->threads.n; i++)
		if (telling->threads.items[i] == thread)
			return;
	*VEC_PUSH(&telling->threads) = thread;
}

static void make_scenes(struct telling *telling)
{
	const struct schedule *schedule = telling->story->schedule;
	struct scene *scene = NULL;
	size_t event = 0;

	for (size_t i = 0; i < schedule->nturns; i++) {
		const struct schedule_turn *turn = &schedule->turns[i];

		if (turn->wake)
			continue;
		if (!scene || scene->thread != turn->thread) {
			scene = VEC_PUSH(&telling->scenes);
			scene->thread = turn->thread;
			note_thread(telling, turn->thread);
		}
		scene->last = turn;
		event = take_events(telling, scene, event);
	}
}

/* ---- printing ---- */

static int column_of(const struct telling *telling, uint32_t thread)
{
	for (size_t i = 0; i < telling->threads.n; i++)
		if (telling->threads.items[i] == thread)
			return (int)i;
	return 0;
}

static bool side_by_side(const struct telling *telling)
{
	return telling->threads.n <= COLUMNS_MOST;
}

static int column_width(const struct telling *telling)
{
	return side_by_side(telling) && telling->threads.n ? WIDTH / (int)telling->threads.n : WIDTH;
}

/* A line of the thread's column. */
static void put(const struct telling *telling, uint32_t thread, const char *text)
{
	int width = column_width(telling);
	int indent = side_by_side(telling) ? column_of(telling, thread) * width : 0;
	_cleanup_free_ char *cut = text_cut(text, width - 2, false);

	fprintf(telling->out, "%*s%s\n", indent, "", cut);
}

static char *source_of(struct telling *telling, const struct site *site)
{
	const char *slash = strrchr(site->file, '/');
	_cleanup_free_ char *text = excerpt_line(&telling->excerpts, site->file, site->line);
	_cleanup_free_ char *file = text_clean(slash ? slash + 1 : site->file);

	/* Side by side there is no room for the name of the only file. */
	if (!site->line)
		return text_clean(site->function);
	if (side_by_side(telling) && telling->threads.n > 1)
		return memory_format("%u: %s", site->line, text ? text : site->function);
	return memory_format("%s:%u: %s", file, site->line, text ? text : site->function);
}

static void put_lines(struct telling *telling, const struct scene *scene)
{
	size_t n = scene->lines.n;

	for (size_t i = 0; i < n; i++) {
		if (n > FIRST_LINES + LAST_LINES + 1 && i == FIRST_LINES) {
			_cleanup_free_ char *more =
				memory_format("   ... %zu more", n - FIRST_LINES - LAST_LINES);

			put(telling, scene->thread, more);
			i = n - LAST_LINES;
		}
		const struct line *line = &scene->lines.items[i];
		_cleanup_free_ char *source = source_of(telling, line->site);
		_cleanup_free_ char *text = memory_format(" %c %s", line->write ? 'w' : 'r', source);

		put(telling, scene->thread, text);
	}
}

/* How the scene ends: only what is not plain from the next one. */
static void put_end(struct telling *telling, const struct scene *scene)
{
	const struct schedule_turn *turn = scene->last;
	const struct site *site = turn->site ? atlas_find(telling->story->atlas, turn->site) : NULL;
	const char *how = turn->stop == STOP_PREEMPTED ? "-- stopped before"
			  : turn->stop == STOP_BLOCKED ? "-- waits at"
			  : turn->stop == STOP_YIELDED ? "-- yields at"
			  : turn->stop == STOP_ENDED   ? "-- ends"
						       : "** the run ends";
	_cleanup_free_ char *source = site && turn->stop != STOP_ENDED ? source_of(telling, site) : NULL;
	_cleanup_free_ char *text = memory_format("%s%s%s", how, source ? " " : "", source ? source : "");

	put(telling, scene->thread, text);
}

static void put_head(const struct telling *telling)
{
	int width = column_width(telling);

	for (size_t i = 0; side_by_side(telling) && i < telling->threads.n; i++) {
		_cleanup_free_ char *name = memory_format("T%u%s", telling->threads.items[i],
							  telling->threads.items[i] ? "" : " (main)");

		text_pad(telling->out, name, i + 1 < telling->threads.n ? width : (int)strlen(name), false);
	}
	if (side_by_side(telling))
		fprintf(telling->out, "\n");
}

static void put_scenes(struct telling *telling)
{
	size_t first = telling->scenes.n > TURNS_MOST ? telling->scenes.n - TURNS_MOST : 0;

	if (first)
		fprintf(telling->out, "(%zu turns before these are not shown)\n", first);
	put_head(telling);
	for (size_t i = first; i < telling->scenes.n; i++) {
		struct scene *scene = &telling->scenes.items[i];

		if (!side_by_side(telling)) {
			_cleanup_free_ char *name =
				memory_format("T%u%s", scene->thread, scene->thread ? "" : " (main)");

			put(telling, scene->thread, name);
		}
		put_lines(telling, scene);
		put_end(telling, scene);
	}
}

static void free_telling(struct telling *telling)
{
	for (size_t i = 0; i < telling->scenes.n; i++)
		VEC_FREE(&telling->scenes.items[i].lines);
	VEC_FREE(&telling->scenes);
	VEC_FREE(&telling->threads);
	map_free(&telling->shared);
	excerpt_free(&telling->excerpts);
}

void story_print(const struct story *story, FILE *out)
{
	_cleanup_(free_telling) struct telling telling = { .story = story, .out = out };
	const struct schedule *schedule = story->schedule;
	size_t forced = schedule_preemptions(schedule->turns, schedule->nturns);

	if (!schedule->nturns)
		return;
	fprintf(out, "%s, with %zu forced switch%s between threads:\n\n",
		story->found ? "As it was found, not made short" : "The shortest way to it", forced,
		forced == 1 ? "" : "es");
	find_shared(&telling);
	make_scenes(&telling);
	put_scenes(&telling);
	fprintf(out, "\n");
	story_print_waits(story, out);
	story_print_fault(story, out);
}
