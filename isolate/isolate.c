/* The loop of Figure 1.
 */
#include "isolate/isolate.h"

#include <stdlib.h>
#include <string.h>

#include "loom/watch.h"
#include "model/atlas.h"

#define STEPS_MOST 24 /* suppressions; chains in programs are shorter */

void isolate_say(const struct isolate_options *options, enum isolate_stage now)
{
	if (options->stage)
		options->stage(now);
}

bool isolate_is_over(const struct isolate_options *options, double deadline)
{
	return watch_now() > deadline || (options->stop && options->stop());
}

/* ---- suppression ---- */

static bool can_suppress(const struct isolate_definition *definition)
{
	return (definition->definer == DEFINED_STORE || definition->definer == DEFINED_FREED ||
		definition->definer == DEFINED_KERNEL) &&
	       definition->instance;
}

static struct isolate_planned *planned_as(struct isolate_area *area,
					  const struct isolate_definition *definition)
{
	for (uint32_t i = 0; i < area->nplanned; i++)
		if (area->planned[i].key == definition->key &&
		    area->planned[i].thread == definition->thread &&
		    area->planned[i].definer == definition->definer)
			return &area->planned[i];
	return NULL;
}

static bool is_planned(struct isolate_area *area, const struct isolate_definition *definition)
{
	const struct isolate_planned *planned = planned_as(area, definition);

	return planned && planned->instance <= definition->instance && definition->instance <= planned->last;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Is use `a` more to blame than `b`? Of a bad address: a pointer that leads nowhere, else what was added to one
 * that is sound. Of a hang: what stays as it is, not what goes on in each round. Of anything else: what was
 * defined later. */
static bool is_worse(struct isolation *isolation, const struct isolate_failure *failure, size_t a, size_t b)
{
	const struct isolate_use *first = &failure->uses[a], *second = &failure->uses[b];
	const struct isolate_hop *x = &first->hops[0], *y = &second->hops[0];
	bool by_address = failure->kind == FAILED_ACCESS || failure->kind == FAILED_BEYOND;

	if (by_address && x->points != y->points)
		return y->points;
	if (by_address && (x->size == 8) != (y->size == 8))
		return x->size == 8;
	if (by_address && x->size == 8)
		return distance(x->value, failure->address) < distance(y->value, failure->address);
	uint64_t one = first->hops[isolation_origin(isolation, first)].definition.when;
	uint64_t other = second->hops[isolation_origin(isolation, second)].definition.when;

	return failure->kind == FAILED_HANG ? one < other : one > other;
}

/* Which definition to leave out. */
static void choose(struct isolation *isolation, struct isolate_area *area, struct isolate_step *step)
{
	const struct isolate_failure *failure = &step->failure;

	step->used = failure->nuses;
	for (size_t i = 0; i < failure->nuses; i++) {
		size_t hop = isolation_origin(isolation, &failure->uses[i]);
		const struct isolate_definition *definition = &failure->uses[i].hops[hop].definition;

		if (!can_suppress(definition) || is_planned(area, definition))
			continue;
		if (step->used == failure->nuses || is_worse(isolation, failure, i, step->used)) {
			step->used = i;
			step->hop = hop;
		}
	}
}

/* A loop that has gone too far has done so instance after instance: those between two that had to be left out are
 * left out as well, and some beyond them. */
static void widen(struct isolate_planned *planned, uint64_t instance)
{
	planned->instance = instance < planned->instance ? instance : planned->instance;
	planned->last = instance > planned->last ? instance : planned->last;
	planned->last += 2 * (planned->last - planned->instance);
}

static void plan(struct isolate_area *area, const struct isolate_step *step)
{
	const struct isolate_definition *definition =
		&step->failure.uses[step->used].hops[step->hop].definition;
	struct isolate_planned *planned = planned_as(area, definition);

	if (planned)
		widen(planned, definition->instance);
	else if (area->nplanned < ISOLATE_PLANNED)
		area->planned[area->nplanned++] = (struct isolate_planned){ .key = definition->key,
									    .instance = definition->instance,
									    .last = definition->instance,
									    .thread = definition->thread,
									    .definer = definition->definer };
	if ((step->failure.kind == FAILED_BRANCH || step->failure.kind == FAILED_HANG) &&
	    step->failure.branch && area->navoided < ISOLATE_PLANNED)
		area->avoided[area->navoided++] = (struct isolate_avoided){ .branch = step->failure.branch,
									    .taken = step->failure.taken };
}

/* Had the program written there before it failed first? Then what is without a value now was left out. */
static bool was_written(const struct isolation *isolation, const struct isolate_definition *definition)
{
	const struct observations *trace = &isolation->original.observations;

	for (size_t i = 0; i < trace->nevents; i++)
		if (trace->events[i].write &&
		    trace->events[i].address < definition->address + definition->size &&
		    definition->address < trace->events[i].address + trace->events[i].size)
			return true;
	return false;
}

static bool is_undefined(struct isolation *isolation, const struct isolate_failure *failure)
{
	for (size_t i = 0; i < failure->nuses; i++) {
		const struct isolate_use *use = &failure->uses[i];
		const struct isolate_definition *definition =
			&use->hops[isolation_origin(isolation, use)].definition;

		/* Where calls were left out frames are as they were. */
		bool known = isolation->steps.n == 1 || (definition->definer == DEFINED_ALLOCATED &&
							 !was_written(isolation, definition));

		if (known &&
		    (definition->definer == DEFINED_ALLOCATED || definition->definer == DEFINED_FRAME))
			return true;
	}
	return false;
}

static void remember_modules(struct isolation *out, const struct channel *channel)
{
	memcpy(out->modules, channel->area->modules, sizeof out->modules);
	const struct isolate_area *area = channel->area;

	out->skipped = area->loads + area->stores + area->branches + area->calls + area->system_calls;
}

/* Experiments with the order of threads, at most: for the first failure, and for each one after it. */
#define ORDERS_FIRST 14
#define ORDERS_NEXT 6

static void end(struct isolation *out, enum isolate_verdict verdict, enum isolate_why why)
{
	out->verdict = verdict;
	out->why = why;
}

/* Was what is left out not computed from memory that may have been wrong before? And of a watched value it is no
 * wonder that it is not seen again. */
static bool is_first_cause(const struct isolate_step *step)
{
	const struct isolate_failure *failure = &step->failure;
	const struct isolate_use *use = &failure->uses[step->used];

	if (step->used >= failure->nuses || failure->kind == FAILED_WATCH ||
	    (failure->kind == FAILED_HANG && failure->nuses > 1))
		return false;
	/* A loop of the program that went too far: the write is certain, but the loop may have more lines. */
	if (use->hops[step->hop].parts && use->hops[step->hop].definition.place.own)
		return false;
	return use->hops[step->hop].parts || step->hop + 1 >= use->nhops ||
	       use->hops[step->hop].definition.definer != DEFINED_STORE || failure->kind == FAILED_BEYOND;
}

/* Does a run end in a failure that reveals something? A suppressed program that hangs has only lost what it waits
 * for, unless it hung before; one that is watched goes on until what is watched is suppressed. */
static bool is_next_failure(const struct isolation *out, const struct isolate_area *area,
			    enum outcome outcome)
{
	return outcome == OUTCOME_SIGNAL || outcome == OUTCOME_MEMORY || area->failure.kind == FAILED_WATCH ||
	       (isolate_hangs(out->original.outcome) && isolate_hangs(outcome));
}

/* Only what the watched variable gave is kept, where the variable is known; else all that the line read. */
static void keep_variable(struct isolation *out, struct isolate_failure *failure, const char *variable)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; variable && i < failure->nuses; i++) {
		struct unit unit = isolation_place(out, &failure->uses[i].hops[0].place, SITE_READ);

		if (unit.nsites && !strcmp(unit.sites[0].variable, variable))
			failure->uses[kept++] = failure->uses[i];
		unit_free(&unit);
	}
	if (kept)
		failure->nuses = kept;
	out->all_watched = variable && !kept;
}

/* To use a block that was freed is a fault by itself: what fails when the block is kept came of the same. */
static bool is_misuse(const struct isolate_failure *failure)
{
	return failure->kind == FAILED_DEAD || failure->kind == FAILED_FREE;
}

/* Of a schedule that was given it is not known whether others pass. Then the order of threads matters, and a write
 * that can be left out need not be the cause. */
static struct error *try_without_schedule(const struct isolate_options *options, struct isolation *out)
{
	_cleanup_(run_free) struct run run = { 0 };

	if (!options->schedule || out->others_pass || out->original.observations.nthreads < 2)
		return NULL;
	TRY(launch_run(options->launch, &run));
	out->runs.hunt++;
	out->others_pass = run.label == LABEL_PASS;
	return NULL;
}

/* Is there nothing to leave out any more? The verdict is then set. */
static bool ends_here(const struct isolate_options *options, struct isolation *out,
		      const struct isolate_step *step, double deadline)
{
	if (!step->failure.nuses) {
		end(out, out->steps.n > 1 ? ISOLATE_BEST : ISOLATE_UNKNOWN, WHY_NO_MEMORY);
		return true;
	}
	if (is_undefined(out, &step->failure)) {
		end(out, ISOLATE_UNDEFINED, WHY_NOT);
		out->sure = !out->others_pass && out->steps.n == 1;
		return true;
	}
	if (step->used == step->failure.nuses || out->steps.n == STEPS_MOST ||
	    isolate_is_over(options, deadline)) {
		end(out, ISOLATE_BEST, step->used == step->failure.nuses ? WHY_NO_WRITE : WHY_USED_UP);
		return true;
	}
	if (out->steps.n > 1 && is_misuse(&out->steps.items[0].failure)) {
		out->steps.n = 1;
		end(out, ISOLATE_ROOT, WHY_NOT);
		return true;
	}
	return false;
}

static struct error *search(const struct isolate_options *options, struct isolation *out,
			    struct channel *channel, const struct schedule *schedule, double deadline)
{
	_cleanup_(run_free) struct run run = { 0 };
	enum outcome outcome = out->original.outcome;
	int code = out->original.code;
	bool found = false;

	while (is_next_failure(out, channel->area, outcome)) {
		struct isolate_step *step = VEC_PUSH(&out->steps);

		*step = (struct isolate_step){ .outcome = outcome,
					       .code = code,
					       .failure = channel->area->failure };
		remember_modules(out, channel);
		if (step->failure.kind == FAILED_WATCH)
			keep_variable(out, &step->failure, channel->watched);
		choose(out, channel->area, step);
		isolate_say(options, ISOLATE_MOVING);
		TRY(order_check(options, out, schedule, &step->failure,
				ORDERS_FIRST + ORDERS_NEXT * (out->steps.n - 1), &found));
		if (found) {
			end(out, ISOLATE_ORDER, WHY_NOT);
			return NULL;
		}
		if (ends_here(options, out, step, deadline))
			return NULL;
		plan(channel->area, step);
		isolate_say(options, ISOLATE_SUPPRESSING);
		run_free(&run);
		run = (struct run){ 0 };
		TRY(channel_run(channel, options->launch, schedule, false, &run));
		out->runs.suppression++;
		outcome = run.outcome;
		code = run.code;
	}
	remember_modules(out, channel);
	if (outcome == OUTCOME_EXIT)
		TRY(try_without_schedule(options, out));
	if (outcome != OUTCOME_EXIT)
		end(out, ISOLATE_BEST, WHY_RUNS_ON);
	else if (out->others_pass)
		end(out, ISOLATE_BEST, WHY_OTHER_ORDERS);
	else
		end(out, ISOLATE_ROOT, WHY_NOT);
	out->sure = out->verdict == ISOLATE_ROOT && is_first_cause(&out->steps.items[out->steps.n - 1]);
	return NULL;
}

struct error *isolate(const struct isolate_options *options, struct isolation *out)
{
	_cleanup_(schedule_free) struct schedule schedule = { 0 };
	_cleanup_(channel_close) struct channel channel = { .fd = -1 };
	double started = watch_now(), deadline = started + options->time_s;
	struct error *error = channel_open(&channel);

	*out = (struct isolation){ .deadline = deadline, .others_pass = options->others_pass };
	if (!error && options->watch)
		error = channel_watch(&channel, options->watch, options->launch->path, &channel.watched);
	if (!error)
		error = isolate_original(options, out, &channel, deadline, &schedule);
	if (!error && out->runs.original && options->trail_only) {
		remember_modules(out, &channel);
		isolation_tell_trail(out, &channel.area->failure);
	} else if (!error && out->runs.original) {
		error = search(options, out, &channel, &schedule, deadline);
	}
	if (!error && !options->trail_only)
		isolation_tell_root(out);
	out->wall_s = watch_now() - started;
	return error;
}
