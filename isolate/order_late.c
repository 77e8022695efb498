/* A write that came too late: it is not in the failing run at all. The failing thread is
 * kept from going on where it would fail, the others run to their end, and what they then
 * wrote to locations that it had read is what it should have waited for. */
#include "isolate/order_check.h"

#include "base/memory.h"
#include "diagnose/retell.h"

/* The failing schedule without the last `turns` turns of the failing thread; then everybody else goes on first. */
static struct schedule deferred(const struct order_search *search, unsigned turns)
{
	struct schedule schedule = schedule_copy(search->schedule);
	uint32_t threads = search->trace->nthreads, reader = search->failure->thread;
	size_t n = schedule.nturns;

	while (n && turns) {
		n--;
		turns -= schedule.turns[n].thread == reader && !schedule.turns[n].wake;
	}
	schedule.turns = memory_resize(schedule.turns, (n + 2 * (threads + 1)) * sizeof *schedule.turns);
	for (int round = 0; round < 2; round++)
		for (uint32_t t = 0; t < threads; t++)
			if (t != reader)
				schedule.turns[n++] = (struct schedule_turn){ .thread = t,
									      .stop = STOP_BLOCKED,
									      .points = SCHEDULE_ENDLESS };
	schedule.nturns = n;
	return schedule;
}

static bool overlap(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

static size_t count_before(const struct observations *trace, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += trace->events[i].site == trace->events[at].site &&
		     trace->events[i].thread == trace->events[at].thread;
	return n;
}

static size_t writes_by_others(const struct observations *trace, size_t before, const struct event *read,
			       size_t *last)
{
	size_t n = 0;

	for (size_t i = 0; i < before; i++)
		if (trace->events[i].write && trace->events[i].thread != read->thread &&
		    overlap(&trace->events[i], read)) {
			*last = i;
			n++;
		}
	return n;
}

/* The same instance of the read in the deferred run. */
static size_t same_read(const struct order_search *search, size_t read, const struct observations *other,
			const struct atlas *atlas)
{
	const struct event *event = &search->trace->events[read];
	const struct site *site = atlas_number(&search->atlas, event->site);
	size_t left = count_before(search->trace, read);

	for (size_t i = 0; site && i < other->nevents; i++) {
		const struct site *here = other->events[i].thread == event->thread
						  ? atlas_number(atlas, other->events[i].site)
						  : NULL;

		if (here && here->id == site->id && !left--)
			return i;
	}
	return ORDER_NONE;
}

/* The read was given another value in the deferred run: does waiting for that write mend it? */
static struct error *check_wait(struct order_search *search, size_t number, const struct order_instance *then)
{
	const struct event *late = &then->trace->events[then->event];
	const struct atlas *atlas = then->atlas;
	size_t read = search->reads[number];
	bool direct = search->failure->reads[number].dependence != READ_CONTROL;
	struct claim_parts pair = order_parts(search, &read, 1);
	struct order_move move;

	pair.items[pair.n++] = (struct claim_part){ .site = atlas_number(atlas, late->site),
						    .thread = late->thread,
						    .write = true,
						    .missing = true,
						    .address = late->address,
						    .size = late->size,
						    .at = CLAIM_NOT_TRACED };
	if (!pair.items[1].site || !order_is_new(search, &pair))
		return NULL;
	TRY(order_wait(search, read, then, CLAIM_ORDER, &move));
	if (!move.held && !order_is_over(search))
		TRY(order_forbid(search, CLAIM_ORDER, &pair, &move));
	/* The deferred run passed as well: two ways of letting the write come first. Whoever waits is late for
	 * everything, though: only a value that the failure was made of proves it. */
	search->reading_far = order_far(&search->failure->reads[number]);
	if (move.passes)
		order_tell(search, FINDING_ORDER, ORDER_READ_EARLY,
			   move.given_up ? ORDER_GIVEN_UP
			   : direct      ? ORDER_SURE
					 : ORDER_PASSED,
			   &pair);
	return NULL;
}

static struct error *check_deferred(struct order_search *search, unsigned turns)
{
	struct schedule schedule = deferred(search, turns);
	struct launch_options options = retell_strictly(search->options->launch, &schedule);
	_cleanup_(run_free) struct run run = { 0 };
	_cleanup_(atlas_free) struct atlas atlas = { 0 };
	struct error *error;

	options.control.strict = 0;
	options.control.carry = 1;
	options.area.observe |= OBSERVE_TRACE;
	error = launch_run(&options, &run);
	schedule_free(&schedule);
	if (error)
		return error;
	search->isolation->runs.violation++;
	order_note(search, MOVED_DEFERRED, &(struct claim_parts){ 0 }, run.label == LABEL_PASS, false, true);
	if (run.label != LABEL_PASS)
		return NULL;
	atlas_read(&atlas, &run.observations);
	for (size_t i = 0; i < search->failure->nreads && !order_is_over(search); i++) {
		size_t read = search->reads[i], then;
		size_t early, late;

		if (read == ORDER_NONE || search->trace->events[read].thread != search->failure->thread)
			continue;
		const struct event *event = &search->trace->events[read];

		then = same_read(search, read, &run.observations, &atlas);
		if (then != ORDER_NONE && writes_by_others(&run.observations, then, event, &late) >
						  writes_by_others(search->trace, read, event, &early))
			TRY(check_wait(search, i,
				       &(struct order_instance){ &run.observations, &atlas, late }));
	}
	return NULL;
}

struct error *order_check_late(struct order_search *search, unsigned turns)
{
	return order_is_over(search) ? NULL : check_deferred(search, turns);
}
