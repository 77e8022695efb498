/* Points say where a switch stood, accesses are what a trace has: the runs at the edges
 * are traced too, and how many accesses the thread had done there tells how many lie
 * between edge and switch.
 */
#include "diagnose/experiment.h"

#include <string.h>

#include "diagnose/switches.h"

/* The gap of a turn in another run. */
struct traced {
	struct retold retold;
	struct gap gap;
	bool found;
};

static void traced_free(struct traced *traced)
{
	retold_free(&traced->retold);
}

static struct error *trace_schedule(const struct launch_options *launch, const struct schedule *schedule,
				    size_t turn, struct traced *out)
{
	TRY(retell(launch, schedule, &out->retold));
	out->found = out->retold.story.traced && !out->retold.run.observations.dropped &&
		     switches_gap(&out->retold.run.observations, schedule, turn, &out->gap);
	return NULL;
}

static struct error *move_early(const struct launch_options *launch, const struct window *window,
				const struct gap *base, struct switch_moved *out)
{
	_cleanup_(traced_free) struct traced traced = { 0 };
	const struct window_edge *edge = &window->early;

	out->early = edge->sharp;
	out->early_site = edge->site;
	if (!edge->moved)
		return NULL;
	TRY(trace_schedule(launch, &edge->schedule, window->turn, &traced));
	if (traced.found && traced.gap.own <= base->own)
		out->before = base->own - traced.gap.own;
	else
		out->early = false;
	return NULL;
}

/* The thread's access before the gap that has `number` before it. */
static bool find_own(const struct observations *run, const struct gap *gap, size_t number, struct event *out)
{
	for (size_t i = 0; i < gap->from; i++)
		if (run->events[i].thread == gap->thread && !number--) {
			*out = run->events[i];
			return true;
		}
	return false;
}

static struct error *move_late(const struct launch_options *launch, struct atlas *atlas,
			       const struct window *window, const struct gap *base, struct switch_moved *out)
{
	_cleanup_(traced_free) struct traced traced = { 0 }, beyond = { 0 };
	const struct window_edge *edge = &window->late;
	size_t own = base->own;

	out->late = edge->sharp;
	out->late_site = edge->site;
	if (edge->moved) {
		TRY(trace_schedule(launch, &edge->schedule, window->turn, &traced));
		out->late &= traced.found && traced.gap.own >= base->own;
		own = out->late ? traced.gap.own : own;
	}
	out->after = own - base->own;
	if (!out->late)
		return NULL;
	TRY(trace_schedule(launch, &edge->beyond, window->turn, &beyond));
	atlas_number_alike(atlas, &beyond.retold.run.observations, &beyond.retold.atlas);
	if (beyond.found)
		out->has_next = find_own(&beyond.retold.run.observations, &beyond.gap, own, &out->next);
	return NULL;
}

static struct error *move_gap(const struct launch_options *launch, const struct window *window,
			      struct switch_moved *out)
{
	_cleanup_(traced_free) struct traced traced = { 0 };
	const struct window_edge *edge = &window->brief;

	out->meanwhile = SIZE_MAX;
	out->brief_site = edge->sharp ? edge->site : 0;
	if (!edge->moved)
		return NULL;
	TRY(trace_schedule(launch, &edge->schedule, window->turn, &traced));
	if (traced.found)
		out->meanwhile = traced.gap.to - traced.gap.from;
	return NULL;
}

struct error *experiment_claims(const struct launch_options *launch, const struct schedule *schedule,
				struct retold *retold, const struct windows *windows, struct hints *out)
{
	const struct observations *run = &retold->run.observations;
	struct switches_moved moved = { 0 };
	struct error *error = NULL;

	for (size_t i = 0; windows && i < windows->n && !error; i++) {
		const struct window *window = &windows->items[i];
		struct gap gap;

		if (!switches_gap(run, schedule, window->turn, &gap))
			continue;
		struct switch_moved *one = VEC_PUSH(&moved);

		*one = (struct switch_moved){ .turn = window->turn };
		error = move_early(launch, window, &gap, one);
		if (!error)
			error = move_late(launch, &retold->atlas, window, &gap, one);
		if (!error)
			error = move_gap(launch, window, one);
	}
	if (!error)
		switches_claim(run, &retold->atlas, schedule, &moved, out);
	VEC_FREE(&moved);
	return error;
}
