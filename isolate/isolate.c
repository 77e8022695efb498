/* The loop of Figure 1.
 */
#include "isolate/isolate.h"

#include <stdlib.h>
#include <string.h>

#include "loom/watch.h"
#include "model/atlas.h"

#define STEPS_MOST 24           /* suppressions; chains in programs are shorter */
#define NEAR_POINTER (1u << 16) /* fields of a structure are not farther from its beginning */

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
 * that is sound. Of a hang: what the program wrote, not what it was given, and what stays as it is, not what goes on in
 * each round. Of anything else: what was defined later. */
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
	const struct isolate_definition *one = &first->hops[isolation_origin(isolation, first)].definition;
	const struct isolate_definition *other =
		&second->hops[isolation_origin(isolation, second)].definition;

	if (failure->kind == FAILED_HANG && one->place.own != other->place.own)
		return one->place.own;
	return failure->kind == FAILED_HANG ? one->when < other->when : one->when > other->when;
}

/* Of memory beside a block: is the use only the pointer to the block? That is right, and without it nothing is used. */
static bool is_pointer_to_block(const struct isolate_failure *failure, const struct isolate_use *use)
{
	return failure->kind == FAILED_BEYOND && failure->made.address && use->hops[0].points &&
	       failure->address - use->hops[0].value < NEAR_POINTER;
}

/* Which definition to leave out. */
static void choose(struct isolation *isolation, struct isolate_area *area, struct isolate_step *step)
{
	const struct isolate_failure *failure = &step->failure;

	step->used = failure->nuses;
	for (size_t i = 0; i < failure->nuses; i++) {
		size_t hop = isolation_suppressible(isolation, &failure->uses[i]);

		if (hop == failure->uses[i].nhops || is_pointer_to_block(failure, &failure->uses[i]) ||
		    is_planned(area, &failure->uses[i].hops[hop].definition))
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

/* The use that had never been given a value; NULL: none. */
static const struct isolate_use *undefined_use(struct isolation *isolation,
					       const struct isolate_failure *failure)
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
			return use;
	}
	return NULL;
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

/* Was a value read at a place that a wrong value had said? */
static bool is_misplaced(const struct isolate_use *use, size_t hop)
{
	for (size_t i = 0; i <= hop && i < use->nhops; i++)
		if (use->hops[i].placed || use->hops[i].indexed)
			return true;
	return false;
}

/* Did the write break a rule of memory by itself? A library's function, or the system, filled a part of what was used as
 * a pointer: it was given an object that is smaller. Of a write that leaves its block it is not known whether it goes
 * too far or the block is too small. Of any other write the suppressed run shows only that the failure hangs on its
 * value: the program may mean it, and the fault be that it is used. A loop of the program that wrote a part may have
 * more lines. */
static bool breaks_memory(const struct isolate_step *step)
{
	const struct isolate_failure *failure = &step->failure;

	if (step->used >= failure->nuses || is_misplaced(&failure->uses[step->used], step->hop))
		return false;
	const struct isolate_hop *hop = &failure->uses[step->used].hops[step->hop];

	return (failure->kind == FAILED_ACCESS || failure->kind == FAILED_JUMP) && hop->parts &&
	       !hop->definition.place.own && hop->size == 8 &&
	       distance(hop->value, failure->address) < NEAR_POINTER;
}

/* Does a run end in a failure that reveals something? A suppressed program that hangs has only lost what it waits
 * for, unless it hung before; one that is watched goes on until what is watched is suppressed. */
static bool is_next_failure(const struct isolation *out, const struct isolate_area *area,
			    enum outcome outcome)
{
	return outcome == OUTCOME_SIGNAL || outcome == OUTCOME_MEMORY || area->failure.kind == FAILED_WATCH ||
	       (isolate_hangs(out->original.outcome) && isolate_hangs(outcome));
}

/* To use a block that was freed is a fault by itself: what fails when the block is kept came of the same. */
static bool is_misuse(const struct isolate_failure *failure)
{
	return failure->kind == FAILED_DEAD || failure->kind == FAILED_FREE;
}

#define OTHERS_TRIED 4
/* Do other schedules pass? Then the order of threads matters, and a write that can be left out need not be the cause. Of
 * one that was given, or that failed at once, that is not known. */
static struct error *try_others(const struct isolate_options *options, struct isolation *out, double deadline)
{
	for (uint64_t i = 0; i < OTHERS_TRIED && out->original.observations.nthreads > 1 &&
			     !out->others_pass && !isolate_is_over(options, deadline);
	     i++) {
		_cleanup_(run_free) struct run run = { 0 };
		struct launch_options launch = *options->launch;

		launch.control.policy = i || !options->schedule ? POLICY_RANDOM : launch.control.policy;
		launch.area.seed = options->seed + i;
		TRY(launch_run(&launch, &run));
		out->runs.hunt++;
		out->others_pass = run.label == LABEL_PASS;
	}
	return NULL;
}

/* What decided whether calls go on was left out, or a check of the program was no longer passed that had been: the program
 * is another one then, and its failure reveals nothing of the first one. */
static bool is_another_program(const struct isolate_failure *first, const struct isolate_failure *now)
{
	return first->kind == FAILED_STACK ||
	       (now->kind == FAILED_BRANCH && first->kind != FAILED_BRANCH && first->kind != FAILED_HANG);
}

/* Is there nothing to leave out any more? The verdict is then set. */
static bool ends_here(const struct isolate_options *options, struct isolation *out,
		      const struct isolate_step *step, double deadline)
{
	if (out->steps.n > 1 && is_misuse(&out->steps.items[0].failure)) {
		out->steps.n = 1;
		end(out, ISOLATE_ROOT, WHY_NOT);
		return true;
	}
	if (!step->failure.nuses) {
		end(out, out->steps.n > 1 ? ISOLATE_BEST : ISOLATE_UNKNOWN, WHY_NO_MEMORY);
		return true;
	}
	if (step->failure.caller.address) {
		end(out, ISOLATE_BEST, WHY_CONSTANT);
		return true;
	}
	const struct isolate_use *undefined = undefined_use(out, &step->failure);

	if (undefined) {
		const struct isolate_hop *hop = &undefined->hops[isolation_origin(out, undefined)];
		/* A pointer that was kept, or code of an inlined function, may lead to a local whose time is over. */
		bool over = hop->definition.definer == DEFINED_FRAME &&
			    (hop->reached || isolation_is_inlined(out, &hop->place));

		end(out, ISOLATE_UNDEFINED, WHY_NOT);
		out->sure = !out->others_pass && out->steps.n == 1 && !hop->indexed && !over;
		return true;
	}
	if (step->used == step->failure.nuses || out->steps.n == STEPS_MOST ||
	    isolate_is_over(options, deadline)) {
		end(out, ISOLATE_BEST, step->used == step->failure.nuses ? WHY_NO_WRITE : WHY_USED_UP);
		return true;
	}
	return false;
}

/* A run in which something was left out may take other ways, and fail there for a reason of its own. Only when the same
 * instruction was to blame each time, one that wrote too much, do all failures have one cause. */
static bool is_one_cause(const struct isolation *out)
{
	const struct isolate_step *first = &out->steps.items[0];

	for (size_t i = 1; i < out->steps.n; i++) {
		const struct isolate_step *step = &out->steps.items[i];

		if (step->used >= step->failure.nuses || first->used >= first->failure.nuses ||
		    step->failure.uses[step->used].hops[step->hop].definition.key !=
			    first->failure.uses[first->used].hops[first->hop].definition.key)
			return false;
	}
	return true;
}

#define SHORTEST_S 2 /* a process has to come up on a busy machine */
void isolate_bound(struct launch_options *launch, double seconds)
{
	double most = seconds > SHORTEST_S ? seconds : SHORTEST_S;

	if (launch->timeout_s <= 0 || most < launch->timeout_s)
		launch->timeout_s = most;
}

/* A run with what the area plans, for no longer than there is time. */
static struct error *suppress(const struct isolate_options *options, struct channel *channel,
			      const struct schedule *schedule, double deadline, struct run *run)
{
	struct launch_options launch = *options->launch;

	isolate_bound(&launch, deadline - watch_now());
	isolate_say(options, ISOLATE_SUPPRESSING);
	return channel_run(channel, &launch, schedule, false, run);
}

/* The last suppressed run did not fail any more, or cannot tell. */
static struct error *conclude(const struct isolate_options *options, struct isolation *out,
			      enum outcome outcome, double deadline)
{
	if (outcome == OUTCOME_EXIT)
		TRY(try_others(options, out, deadline));
	if (outcome != OUTCOME_EXIT)
		end(out, ISOLATE_BEST, WHY_RUNS_ON);
	else if (out->others_pass)
		end(out, ISOLATE_BEST, WHY_OTHER_ORDERS);
	else
		end(out, ISOLATE_ROOT, WHY_NOT);
	out->sure = out->verdict == ISOLATE_ROOT && is_one_cause(out) &&
		    breaks_memory(&out->steps.items[out->steps.n - 1]);
	return NULL;
}

/* What threads did to each other is to blame; the verdict is set. */
static struct error *is_found(const struct isolate_options *options, struct isolation *out, double deadline)
{
	if (out->verdict != ISOLATE_KEPT_LOCK)
		return NULL;
	/* Where other orders pass, it is perhaps one of them that led to where the lock was kept. */
	TRY(try_others(options, out, deadline));
	out->sure = !out->others_pass;
	return NULL;
}

/* The check that let a wrong place through: of what said where to read or write. */
static const struct isolate_branch *check_of(const struct isolate_step *step)
{
	const struct isolate_failure *failure = &step->failure;

	if (step->used >= failure->nuses || failure->length.nhops)
		return NULL;
	const struct isolate_hop *hop = &failure->uses[step->used].hops[step->hop];
	bool by_address = failure->kind == FAILED_ACCESS || failure->kind == FAILED_BEYOND;
	bool says_where = is_misplaced(&failure->uses[step->used], step->hop) ||
			  (by_address && !hop->points && hop->size < 8);
	const struct isolate_branch *check = says_where ? &hop->value_check : &hop->where_check;

	return check->number && check->place.own ? check : NULL;
}

/* One run in which that check goes the other way: does it still fail? */
static struct error *try_check(const struct isolate_options *options, struct isolation *out,
			       struct channel *channel, const struct schedule *schedule, double deadline)
{
	_cleanup_(run_free) struct run run = { 0 };
	const struct isolate_branch *check = check_of(&out->steps.items[out->steps.n - 1]);

	if (out->sure || out->others_pass || !check || isolate_is_over(options, deadline))
		return NULL;
	channel->area->nplanned = channel->area->navoided = 0;
	channel->area->other_way = *check;
	TRY(suppress(options, channel, schedule, deadline, &run));
	out->runs.suppression++;
	if (run.outcome == OUTCOME_EXIT && channel->area->met)
		out->check = check->place;
	return NULL;
}

/* One run in which memory that was taken anew is cleared as far as its new owner had left it as it was. */
static struct error *try_renewal(const struct isolate_options *options, struct isolation *out,
				 struct channel *channel, const struct schedule *schedule, double deadline)
{
	_cleanup_(run_free) struct run run = { 0 };
	const struct isolate_failure *failure = &out->steps.items[0].failure;

	if (out->sure || !failure->renewed || isolate_is_over(options, deadline))
		return NULL;
	channel->area->nplanned = channel->area->navoided = 0;
	channel->area->clear = failure->renewal;
	TRY(suppress(options, channel, schedule, deadline, &run));
	out->runs.suppression++;
	out->renewed = run.outcome == OUTCOME_EXIT && channel->area->met;
	channel->area->clear = (struct isolate_renewal){ 0 };
	return NULL;
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
		choose(out, channel->area, step);
		if (out->steps.n > 1 && is_another_program(&out->steps.items[0].failure, &step->failure)) {
			out->steps.n = 1;
			end(out, ISOLATE_BEST, WHY_ELSEWHERE);
			return NULL;
		}
		isolate_say(options, ISOLATE_MOVING);
		TRY(order_check(options, out, schedule, &step->failure,
				ORDERS_FIRST + ORDERS_NEXT * (out->steps.n - 1), &found));
		if (found)
			return is_found(options, out, deadline);
		if (ends_here(options, out, step, deadline)) {
			if (out->sure)
				TRY(try_others(options, out, deadline));
			out->sure &= !out->others_pass;
			return NULL;
		}
		plan(channel->area, step);
		step->left_out = true;
		run_free(&run);
		run = (struct run){ 0 };
		TRY(suppress(options, channel, schedule, deadline, &run));
		out->runs.suppression++;
		outcome = run.outcome;
		code = run.code;
	}
	remember_modules(out, channel);
	TRY(conclude(options, out, outcome, deadline));
	return try_check(options, out, channel, schedule, deadline);
}

struct error *isolate(const struct isolate_options *options, struct isolation *out)
{
	_cleanup_(schedule_free) struct schedule schedule = { 0 };
	_cleanup_(channel_close) struct channel channel = { .fd = -1 };
	double started = watch_now(), deadline = started + options->time_s;
	struct error *error = channel_open(&channel);

	*out = (struct isolation){ .deadline = deadline, .others_pass = options->others_pass };
	if (!error && options->watch)
		error = channel_watch(&channel, options->watch, options->launch->path);
	if (!error)
		error = isolate_original(options, out, &channel, deadline, &schedule);
	if (!error && out->runs.original)
		isolation_keep_led(out, channel.area);
	if (!error && out->runs.original && options->trail_only) {
		remember_modules(out, &channel);
		isolation_tell_trail(out, &channel.area->failure);
	} else if (!error && out->runs.original) {
		error = search(options, out, &channel, &schedule, deadline);
		if (!error && out->steps.n && out->verdict != ISOLATE_ORDER &&
		    out->verdict != ISOLATE_KEPT_LOCK)
			error = try_renewal(options, out, &channel, &schedule, deadline);
	}
	if (!error && !options->trail_only)
		isolation_tell_root(out);
	out->wall_s = watch_now() - started;
	return error;
}
