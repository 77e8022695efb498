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

static size_t definition_of(const struct observations *trace, size_t read, uint32_t writer)
{
	for (size_t i = read; i-- > 0;)
		if (trace->events[i].write && overlap(&trace->events[i], &trace->events[read]))
			return trace->events[i].thread == writer ? i : ORDER_NONE;
	return ORDER_NONE;
}

/* Is it read to know where something else lies? */
static bool says_where(const struct order_search *search, size_t read)
{
	for (size_t i = 0; i < search->failure->nreads; i++)
		if (search->failure->reads[i].dependence == READ_ADDRESS && search->reads[i] != ORDER_NONE &&
		    overlap(&search->trace->events[search->reads[i]], &search->trace->events[read]))
			return true;
	return false;
}

/* What the reader had read of something else before, and the late writer's change that it saw there. */
struct partner {
	size_t other, change; /* ORDER_NONE: there is none */
	bool several;         /* it saw other changes as well */
};

/* The one that was changed last: the group that begins there is the smallest. What only said where to read does not
 * count, since the read needs it. */
static struct partner last_partner(const struct order_search *search, size_t read, uint32_t writer)
{
	const struct observations *trace = search->trace;
	struct partner best = { ORDER_NONE, ORDER_NONE, false };

	for (size_t i = 0; i < search->failure->nreads; i++) {
		size_t at = search->reads[i];

		if (at >= read || says_where(search, at) ||
		    trace->events[at].thread != trace->events[read].thread ||
		    overlap(&trace->events[at], &trace->events[read]))
			continue;
		size_t change = definition_of(trace, at, writer);

		if (change == ORDER_NONE || claim_is_ordered(trace, change, at))
			continue;
		best.several |= best.change != ORDER_NONE && best.change != change;
		if (best.change == ORDER_NONE || change > best.change ||
		    (change == best.change && at > best.other)) {
			best.other = at;
			best.change = change;
		}
	}
	return best;
}

/* Had the reader read something else before, that the late writer had already changed? Then both belong together,
 * and it also passes when that change waits for the reader. Changes of one section under a lock wait together, so that
 * of several it is not sure which one it is. `pair` is the early read and the late write. */
static struct error *check_partner(struct order_search *search, size_t read, const struct claim_parts *pair,
				   bool *told)
{
	struct partner partner = last_partner(search, read, pair->items[1].thread);
	struct order_move move;

	if (partner.other == ORDER_NONE || order_is_over(search))
		return NULL;
	TRY(order_wait_for(search, partner.change, read, CLAIM_ATOMIC, &move));
	if (!move.passes || move.given_up)
		return NULL;
	struct claim_parts group =
		order_parts(search, (const size_t[]){ partner.change, partner.other, read }, 3);

	group.items[group.n++] = pair->items[1];
	order_tell(search, FINDING_MULTI_ATOMICITY, ORDER_READ_BETWEEN,
		   partner.several ? ORDER_SHOWN : ORDER_SURE, &group);
	*told = true;
	return NULL;
}

/* Who had written the place of the read before: nobody, only `thread`, which prepares it, or others as well. */
enum writers { NOBODY, ONLY_IT, OTHERS };
static enum writers writers_before(const struct order_search *search, size_t read, uint32_t thread)
{
	const struct event *events = search->trace->events;
	enum writers writers = NOBODY;

	for (size_t i = 0; i < read && writers != OTHERS; i++)
		if (events[i].write && overlap(&events[i], &events[read]))
			writers = events[i].thread == thread ? ONLY_IT : OTHERS;
	return writers;
}

/* Whoever waits is late for everything, so that it passes proves little. A value that the failure was made of, of a
 * location that nobody had written before, was read too early; one that only the late writer had written was read
 * before it was done; of any other location the early read, forced from another beginning, has to fail as well. */
static struct error *weigh_wait(struct order_search *search, size_t number, const struct order_move *move,
				const struct claim_parts *pair, enum order_weight *out)
{
	enum writers writers = writers_before(search, search->reads[number], pair->items[1].thread);
	bool came, fails;

	*out = move->given_up ? ORDER_GIVEN_UP : ORDER_PASSED;
	if (move->given_up || order_is_control(&search->failure->reads[number]))
		return NULL;
	if (writers != OTHERS) {
		*out = writers == NOBODY ? ORDER_SURE : ORDER_SHOWN;
		return NULL;
	}
	TRY(order_force(search, CLAIM_ORDER, pair, &came, &fails, NULL));
	if (came && fails)
		*out = ORDER_SURE;
	return NULL;
}

/* The read was given another value in the deferred run: does waiting for that write mend it? */
static struct error *check_wait(struct order_search *search, size_t number, const struct order_instance *then)
{
	const struct event *late = &then->trace->events[then->event];
	const struct atlas *atlas = then->atlas;
	size_t read = search->reads[number];
	struct claim_parts pair = order_parts(search, &read, 1);
	struct order_move move;
	bool told = false;

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
	search->reading = number;
	search->reading_far = order_far(&search->failure->reads[number]);
	if (move.passes && !move.given_up)
		TRY(check_partner(search, read, &pair, &told));
	if (!move.passes || told) /* both variables are told already */
		return NULL;
	enum order_weight weight;

	TRY(weigh_wait(search, number, &move, &pair, &weight));
	order_tell(search, FINDING_ORDER, ORDER_READ_EARLY, weight, &pair);
	return NULL;
}

/* Compares a run in which the failing thread went on last: which of its reads were given another value? */
static struct error *compare_deferred(struct order_search *search, struct launch_options *options)
{
	_cleanup_(run_free) struct run run = { 0 };
	_cleanup_(atlas_free) struct atlas atlas = { 0 };

	options->control.strict = 0;
	options->control.carry = 1;
	options->area.observe |= OBSERVE_TRACE;
	TRY(order_run(search, options, &run));
	search->isolation->runs.violation++;
	order_note(search, MOVED_DEFERRED, &(struct claim_parts){ 0 }, run.label == LABEL_PASS, false, true);
	if (run.label != LABEL_PASS)
		return NULL;
	atlas_read(&atlas, &run.observations);
	for (size_t i = 0; i < search->failure->nreads && !order_is_over(search); i++) {
		size_t read = search->reads[i], then;
		size_t early, late;

		/* What a freed block holds does not say why it was freed. */
		if (read == ORDER_NONE || search->failure->reads[i].write ||
		    search->trace->events[read].thread != search->failure->thread)
			continue;
		const struct event *event = &search->trace->events[read];

		then = same_read(search, read, &run.observations, &atlas);
		if (then != ORDER_NONE &&
		    writes_by_others(&run.observations, then, &run.observations.events[then], &late) >
			    writes_by_others(search->trace, read, event, &early))
			TRY(check_wait(search, i,
				       &(struct order_instance){ &run.observations, &atlas, late }));
	}
	return NULL;
}

static bool is_shared(const struct observations *trace, size_t at)
{
	for (size_t i = 0; i < trace->nevents; i++)
		if (trace->events[i].thread != trace->events[at].thread &&
		    overlap(&trace->events[i], &trace->events[at]))
			return true;
	return false;
}

static bool is_written_before(const struct observations *trace, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (trace->events[i].write && overlap(&trace->events[i], &trace->events[at]))
			return true;
	return false;
}

/* The first of the reads that the failure used itself, of what others touch as well, or might have if they had come
 * so far: nobody had written it. */
static size_t first_used(const struct order_search *search)
{
	const struct isolate_failure *failure = search->failure;
	size_t first = ORDER_NONE;

	for (size_t i = 0; i < failure->nreads; i++)
		if (failure->reads[i].dependence == READ_USED &&
		    failure->reads[i].thread == failure->thread && search->reads[i] < first &&
		    (is_shared(search->trace, search->reads[i]) ||
		     !is_written_before(search->trace, search->reads[i])))
			first = search->reads[i];
	return first;
}

struct error *order_check_late(struct order_search *search, bool from_read)
{
	struct launch_options options;
	size_t read = first_used(search);
	bool can_defer = read != ORDER_NONE && order_defer(search, read, &options);

	/* Whoever failed although it waited from that read on fails as well when it waits later. */
	if (order_is_over(search) || can_defer != from_read)
		return NULL;
	if (from_read)
		return compare_deferred(search, &options);
	struct schedule schedule = deferred(search, 1);

	options = retell_strictly(search->options->launch, &schedule);
	struct error *error = compare_deferred(search, &options);

	schedule_free(&schedule);
	return error;
}
