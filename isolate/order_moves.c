/* Runs in which an access is moved, together with the locks around it, by the engine that
 * forbids and forces claims. */
#include "isolate/order_check.h"

#include "base/memory.h"
#include "diagnose/retell.h"
#include "loom/watch.h"

bool order_is_over(const struct order_search *search)
{
	const struct isolation *isolation = search->isolation;

	return isolation->sure || (search->found && search->weight >= ORDER_SHOWN) ||
	       isolation->runs.race + isolation->runs.violation >= search->most ||
	       watch_now() > isolation->deadline || (search->options->stop && search->options->stop());
}

struct claim_parts order_parts(const struct order_search *search, const size_t *events, size_t n)
{
	struct claim_parts parts = { 0 };

	for (size_t i = 0; i < n && parts.n < CLAIM_STEPS; i++)
		parts.items[parts.n++] = claim_part_of(search->trace, &search->atlas, events[i]);
	return parts;
}

bool order_is_new(struct order_search *search, const struct claim_parts *parts)
{
	uint64_t number = parts->n;

	for (size_t i = 0; i < parts->n; i++)
		number = number * 0x9e3779b97f4a7c15u +
			 (parts->items[i].site ? parts->items[i].site->id : 0) + parts->items[i].write;
	for (size_t i = 0; i < search->tried.n; i++)
		if (search->tried.items[i] == number)
			return false;
	*VEC_PUSH(&search->tried) = number;
	return true;
}

#define LONGEST 20 /* times the original execution, in which values are followed and that is slow by itself */
struct error *order_run(const struct order_search *search, struct launch_options *options, struct run *run)
{
	double left = search->isolation->deadline - watch_now();
	double most = LONGEST * search->isolation->original.wall_s;

	isolate_bound(options, most < left ? most : left);
	return launch_run(options, run);
}

/* An access that the traced run does not have: the same instruction of a header may have been led to by one call there. */
static struct unit elsewhere_place(const struct order_search *search, const struct claim_part *part,
				   enum site_kind kind)
{
	const struct observations *trace = search->trace;
	_cleanup_free_ uint64_t *orders = memory_alloc((trace->nthreads + 1) * sizeof *orders);
	struct unit best = { 0 };

	for (size_t i = 0; part->site && i < trace->nevents; i++) {
		const struct event *event = &trace->events[i];
		const struct site *site = atlas_number(&search->atlas, event->site);
		uint64_t order = event->thread <= trace->nthreads ? ++orders[event->thread] : 0;

		if (!site || site->id != part->site->id)
			continue;
		struct unit led = isolation_led_place(search->isolation, event->thread, order, kind);
		bool other = best.nsites && led.nsites && best.sites[0].line != led.sites[0].line;

		if (!best.nsites && led.nsites) {
			best = led;
			continue;
		}
		unit_free(&led);
		if (other) {
			unit_free(&best);
			return (struct unit){ 0 };
		}
	}
	return best;
}

/* What code of a header did stands at the program's line that led there. */
static struct unit own_place(const struct order_search *search, const struct claim_part *part)
{
	enum site_kind kind = part->write ? SITE_WRITE : SITE_READ;

	if (part->at == CLAIM_NOT_TRACED)
		return elsewhere_place(search, part, kind);
	return isolation_led_place(search->isolation, part->thread,
				   order_accesses(search->trace, part->thread, part->at) + 1, kind);
}

/* As accesses of a finding or an experiment. */
static void list_parts(const struct order_search *search, const struct claim_parts *parts,
		       struct finding_accesses *out)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct claim_part *part = &parts->items[i];
		struct unit led = own_place(search, part);
		struct finding_access *access =
			finding_add_access(out, FINDING_NO_SITE, led.nsites ? &led.sites[0] : part->site);

		access->thread = part->thread;
		access->kind = part->write ? SITE_WRITE : SITE_READ;
		access->missing = part->missing;
		unit_free(&led);
	}
}

void order_note(struct order_search *search, enum isolate_moved use, const struct claim_parts *parts,
		bool passes, bool given_up, bool came)
{
	struct isolate_experiment *experiment = VEC_PUSH(&search->isolation->experiments);

	*experiment = (struct isolate_experiment){
		.use = use, .passes = passes, .given_up = given_up, .came = came
	};
	list_parts(search, parts, &experiment->accesses);
}

static void count(struct order_search *search, enum claim_kind kind)
{
	if (kind == CLAIM_ATOMIC)
		search->isolation->runs.violation++;
	else
		search->isolation->runs.race++;
}

static struct order_move move_of(const struct run *run)
{
	const struct claim_counts *counts = &run->schedule.counts;

	return (struct order_move){ .passes = run->label == LABEL_PASS && counts->held,
				    .held = counts->held > 0,
				    .given_up = counts->given_up > 0,
				    .before = (counts->orders & CLAIM_BEFORE) != 0 };
}

struct error *order_forbid(struct order_search *search, enum claim_kind kind, const struct claim_parts *parts,
			   struct order_move *out)
{
	struct launch_options options = retell_strictly(search->options->launch, search->schedule);
	_cleanup_(run_free) struct run run = { 0 };
	struct claim claim;

	*out = (struct order_move){ 0 };
	if (!claim_build(search->trace, &search->atlas, kind, parts, &claim))
		return NULL;
	claim.use = CLAIM_FORBID;
	options.control.claim = claim;
	options.control.strict = 0;
	options.control.carry = 1;
	options.control.aside = !search->forced;
	TRY(order_run(search, &options, &run));
	count(search, kind);
	*out = move_of(&run);
	order_note(search, kind == CLAIM_ATOMIC ? MOVED_ATOMIC : MOVED_ORDER, parts, out->passes,
		   out->given_up, out->held);
	return NULL;
}

/* ---- one instance waits for another ---- */

/* The write of an atomic update has no point of its own: it is done with its read. */
static size_t point_of(const struct observations *trace, const struct atlas *atlas, size_t event)
{
	const struct event *at = &trace->events[event];
	const struct site *site = atlas_number(atlas, at->site);

	if (!site || site->kind != SITE_UPDATE || !at->write || !event)
		return event;
	const struct event *before = &trace->events[event - 1];

	return before->thread == at->thread && before->site == at->site && !before->write ? event - 1 : event;
}

uint32_t order_accesses(const struct observations *trace, uint32_t thread, size_t event)
{
	uint32_t n = 0;

	for (size_t i = 0; i < event; i++)
		n += trace->events[i].thread == thread;
	return n;
}

/* Does the thread take the lock on its way to the event, when it has made so many accesses or more? */
static bool takes_later(const struct order_instance *late, uint64_t object, uint32_t accesses)
{
	const struct observations *trace = late->trace;
	uint32_t thread = trace->events[late->event].thread;

	for (size_t i = 0; i < trace->ncalls && trace->calls[i].before <= late->event; i++)
		if (trace->calls[i].kind == CALL_ACQUIRE && trace->calls[i].thread == thread &&
		    trace->calls[i].object == object &&
		    order_accesses(trace, thread, trace->calls[i].before) >= accesses)
			return true;
	return false;
}

static bool is_released(const struct observations *trace, size_t call, size_t event)
{
	for (size_t i = call + 1; i < trace->ncalls && trace->calls[i].before <= event; i++)
		if (trace->calls[i].kind == CALL_RELEASE &&
		    trace->calls[i].thread == trace->calls[call].thread &&
		    trace->calls[i].object == trace->calls[call].object)
			return true;
	return false;
}

/* The outermost lock that the thread holds at the event and that the other one takes on its way; NULL: none. */
static const struct call *door_of(const struct observations *trace, size_t event,
				  const struct order_instance *late)
{
	uint32_t other = late->trace->events[late->event].thread;

	for (size_t i = 0; i < trace->ncalls && trace->calls[i].before <= event; i++) {
		const struct call *call = &trace->calls[i];

		if (call->kind == CALL_ACQUIRE && call->thread == trace->events[event].thread &&
		    call->site != SITE_NIL && !is_released(trace, i, event) &&
		    takes_later(late, call->object, order_accesses(trace, other, call->before)))
			return call;
	}
	return NULL;
}

static bool once_claim(const struct order_search *search, size_t early, const struct order_instance *late,
		       struct claim *out)
{
	const struct observations *trace = search->trace;
	const struct event *first = &trace->events[early], *second = &late->trace->events[late->event];
	const struct call *door = door_of(trace, early, late);
	const struct site *here = atlas_number(&search->atlas, door ? door->site : first->site);
	const struct site *there = atlas_number(late->atlas, second->site);

	*out = (struct claim){ .kind = CLAIM_ORDER_ONCE, .use = CLAIM_FORBID, .nsteps = 2, .nroles = 2 };
	if (!here || !there || first->thread == second->thread)
		return false;
	out->steps[0] = (struct claim_step){
		.sites = { here->id },
		.nsites = 1,
		.thread = first->thread,
		.occurrence = order_accesses(trace, first->thread,
					     door ? door->before : point_of(trace, &search->atlas, early)),
		.write = door || first->write
	};
	out->steps[1] = (struct claim_step){ .sites = { there->id },
					     .nsites = 1,
					     .role = 1,
					     .thread = second->thread,
					     .occurrence = order_accesses(
						     late->trace, second->thread,
						     point_of(late->trace, late->atlas, late->event)),
					     .write = second->write };
	return claim_is_sound(out);
}

static const struct call *outermost_lock(const struct observations *trace, size_t event)
{
	for (size_t i = 0; i < trace->ncalls && trace->calls[i].before <= event; i++)
		if (trace->calls[i].kind == CALL_ACQUIRE && trace->calls[i].site != SITE_NIL &&
		    trace->calls[i].thread == trace->events[event].thread && !is_released(trace, i, event))
			return &trace->calls[i];
	return NULL;
}

bool order_defer(const struct order_search *search, size_t early, struct launch_options *options)
{
	const struct observations *trace = search->trace;
	const struct event *event = &trace->events[early];
	const struct call *door = outermost_lock(trace, early);
	const struct site *site = atlas_number(&search->atlas, door ? door->site : event->site);
	size_t at = door ? door->before : point_of(trace, &search->atlas, early);
	struct claim claim = { .kind = CLAIM_ORDER_ONCE, .use = CLAIM_FORBID, .nsteps = 2, .nroles = 2 };

	*options = retell_strictly(search->options->launch, search->schedule);
	if (!site)
		return false;
	claim.steps[0] = (struct claim_step){ .sites = { site->id },
					      .nsites = 1,
					      .thread = event->thread,
					      .occurrence = order_accesses(trace, event->thread, at),
					      .write = 1 };
	claim.steps[1] = claim.steps[0];
	claim.steps[1].role = 1;
	claim.steps[1].thread = THREAD_NONE; /* never */
	options->control.claim = claim;
	options->control.aside = 1;
	return claim_is_sound(&claim);
}

/* One run along the failing schedule with a claim that is about instances. */
struct error *order_run_once(struct order_search *search, const struct claim *claim,
			     const struct claim_parts *parts, enum claim_kind counted, struct order_move *out)
{
	struct launch_options options = retell_strictly(search->options->launch, search->schedule);
	_cleanup_(run_free) struct run run = { 0 };

	options.control.claim = *claim;
	options.control.strict = 0;
	options.control.carry = 1;
	options.control.aside = 1;
	TRY(order_run(search, &options, &run));
	count(search, counted);
	*out = move_of(&run);
	order_note(search, MOVED_ONCE, parts, out->passes, out->given_up, out->held);
	return NULL;
}

struct error *order_wait(struct order_search *search, size_t early, const struct order_instance *late,
			 enum claim_kind counted, struct order_move *out)
{
	struct claim_parts parts = order_parts(search, &early, 1);
	struct claim claim;

	*out = (struct order_move){ 0 };
	if (!once_claim(search, early, late, &claim))
		return NULL;
	parts.items[parts.n++] = claim_part_of(late->trace, late->atlas, late->event);
	if (late->trace != search->trace) /* events of another run have other numbers */
		parts.items[parts.n - 1].at = CLAIM_NOT_TRACED;
	return order_run_once(search, &claim, &parts, counted, out);
}

struct error *order_wait_for(struct order_search *search, size_t early, size_t late, enum claim_kind counted,
			     struct order_move *out)
{
	const struct order_instance instance = { search->trace, &search->atlas, late };

	/* In the failing schedule the same comes of it each time. */
	for (size_t i = 0; !search->forced && i < search->waited.n; i++)
		if (search->waited.items[i].early == early && search->waited.items[i].late == late) {
			*out = search->waited.items[i].move;
			return NULL;
		}
	TRY(order_wait(search, early, &instance, counted, out));
	if (!search->forced)
		*VEC_PUSH(&search->waited) = (struct order_waited){ early, late, *out };
	return NULL;
}

/* Options of a run in which the claim decides and no schedule is followed. */
static struct launch_options unplanned(const struct order_search *search, const struct claim *claim)
{
	struct launch_options options = retell_strictly(search->options->launch, search->schedule);

	options.plan = NULL;
	options.control.nplan = 0;
	options.control.claim = *claim;
	options.control.strict = 0;
	options.control.carry = 1;
	return options;
}

struct error *order_force(struct order_search *search, enum claim_kind kind, const struct claim_parts *parts,
			  bool *came, bool *fails, struct schedule *took)
{
	_cleanup_(run_free) struct run run = { 0 };
	struct claim claim;

	*came = *fails = false;
	if (!claim_build(search->trace, &search->atlas, kind, parts, &claim))
		return NULL;
	claim.use = CLAIM_FORCE;
	struct launch_options options = unplanned(search, &claim);

	TRY(order_run(search, &options, &run));
	count(search, kind);
	*came = run.schedule.counts.occurred > 0;
	/* Where somebody had to be let go it may fail for another reason. */
	*fails = !run.schedule.counts.given_up && run.outcome == search->isolation->original.outcome &&
		 run.code == search->isolation->original.code;
	if (took && *fails)
		*took = schedule_copy(&run.schedule);
	order_note(search, MOVED_FORCED, parts, run.label == LABEL_PASS, run.schedule.counts.given_up > 0,
		   *came);
	return NULL;
}

#define BRANCH_FAR 100u /* farther than any value */
uint32_t order_far(const struct isolate_read *read)
{
	return read->distance + (order_is_control(read) ? BRANCH_FAR : 0);
}

/* Of two groups that are worth the same the one within the other: less is enough. */
static bool is_within(const struct order_search *search, const struct claim_parts *parts)
{
	return parts->n > 2 && search->last == parts->items[parts->n - 1].at &&
	       parts->items[0].at != CLAIM_NOT_TRACED && parts->items[0].at > search->first;
}

/* Than what was told before. */
static bool is_better(const struct order_search *search, enum order_weight weight,
		      const struct claim_parts *parts)
{
	if (weight != search->weight)
		return weight > search->weight;
	return search->reading_far < search->far ||
	       (search->reading_far == search->far && is_within(search, parts));
}

void order_tell(struct order_search *search, enum finding_class class, enum isolate_story story,
		enum order_weight weight, const struct claim_parts *parts)
{
	struct finding *finding = &search->isolation->finding;

	if (weight == ORDER_SURE && !order_is_certain(search, parts))
		weight = ORDER_SHOWN;
	bool sure = weight == ORDER_SURE;

	if (search->found && !is_better(search, weight, parts))
		return;
	finding_free(finding);
	*finding = (struct finding){ .rank = 1, .class = class, .score = sure ? 1 : 0.5 };
	finding->method = memory_string("suppress");
	finding->summary = memory_string(isolate_order_words(story));
	list_parts(search, parts, &finding->accesses);
	for (size_t i = 0; i < finding->accesses.n; i++)
		finding_add_variable(finding, finding->accesses.items[i].variable);
	finding_settle(finding);
	search->found = true;
	search->weight = weight;
	search->far = search->reading_far;
	search->first = parts->items[0].at;
	search->last = parts->n > 2 ? parts->items[parts->n - 1].at : CLAIM_NOT_TRACED;
	search->isolation->sure = sure;
}
