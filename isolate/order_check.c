/* Race, atomicity and order by re-execution (SUPPRESS, Figures 2 and 3). The trace of the
 * original execution tells who accessed the location around its definition; an access is
 * moved by the engine that forbids claims, together with the locks around it. Harmful is
 * only what no longer crashes then. Moved to either side of a group without a crash: the
 * group was meant to be one step; to one side only: the order was meant. */
#include <stdlib.h>

#include "diagnose/claim_build.h"
#include "diagnose/retell.h"
#include "isolate/isolate.h"

#define NONE SIZE_MAX

struct check {
	const struct isolate_options *options;
	struct isolation *isolation;
	const struct schedule *schedule;
	const struct observations *trace;
	struct atlas atlas;
	uint64_t address, size;
	uint32_t reader;
	bool gave_up;
};

static bool touches(const struct check *check, const struct event *event)
{
	return event->address < check->address + check->size && check->address < event->address + event->size;
}

/* The last event before `before` at the location that is as wanted; NONE. */
enum wanted { BY_READER, BY_OTHERS, WRITE_BY_ANY, READ_BY_READER };
static size_t last_before(const struct check *check, size_t before, enum wanted wanted)
{
	for (size_t i = before; i-- > 0;) {
		const struct event *event = &check->trace->events[i];
		bool own = event->thread == check->reader;

		if (!touches(check, event))
			continue;
		if ((wanted == BY_READER && own) || (wanted == BY_OTHERS && !own) ||
		    (wanted == WRITE_BY_ANY && event->write) ||
		    (wanted == READ_BY_READER && own && !event->write))
			return i;
	}
	return NONE;
}

/* Does the program still crash when the claim is forbidden? */
static struct error *passes_without(struct check *check, enum claim_kind kind,
				    const struct claim_parts *parts, bool *passes)
{
	struct launch_options options = retell_strictly(check->options->launch, check->schedule);
	_cleanup_(run_free) struct run run = { 0 };
	struct claim claim;

	*passes = false;
	if (!claim_build(check->trace, &check->atlas, kind, parts, &claim))
		return NULL;
	claim.use = CLAIM_FORBID;
	options.control.claim = claim;
	options.control.strict = 0;
	options.control.carry = 1;
	TRY(launch_run(&options, &run));
	if (kind == CLAIM_ATOMIC)
		check->isolation->runs.violation++;
	else
		check->isolation->runs.race++;
	*passes = run.label == LABEL_PASS;
	/* Somebody had to be let go all the same: it passed, but perhaps for another reason. */
	check->gave_up |= *passes && run.schedule.counts.given_up;
	return NULL;
}

static struct claim_parts parts_of(const struct check *check, size_t a, size_t b, size_t c)
{
	struct claim_parts parts = { 0 };
	const size_t events[] = { a, b, c };

	for (size_t i = 0; i < 3; i++)
		if (events[i] != NONE)
			parts.items[parts.n++] = claim_part_of(check->trace, &check->atlas, events[i]);
	return parts;
}

static void tell(struct check *check, enum finding_class class, bool sure, const struct claim_parts *parts,
		 const char *summary)
{
	check->isolation->sure = sure && !check->gave_up;
	struct finding *finding = &check->isolation->finding;

	finding->rank = 1;
	finding->class = class;
	finding->score = 1;
	finding->method = memory_string("suppress");
	finding->summary = memory_string(summary);
	for (size_t i = 0; i < parts->n; i++) {
		const struct claim_part *part = &parts->items[i];
		struct finding_access *access =
			finding_add_access(&finding->accesses, FINDING_NO_SITE, part->site);

		access->thread = part->thread;
		access->kind = part->write ? SITE_WRITE : SITE_READ;
		access->missing = part->missing;
		finding_add_variable(finding, part->site->variable);
	}
	finding_settle(finding);
}

/* The location was last written by another thread: between two accesses of the reader, or before its only one. */
static struct error *check_remote(struct check *check, size_t definition, size_t read, bool *found)
{
	size_t first = last_before(check, definition, BY_READER);
	bool after, before = false;

	if (first != NONE) {
		struct claim_parts group = parts_of(check, first, definition, read);
		struct claim_parts early = parts_of(check, first, definition, NONE);

		TRY(passes_without(check, CLAIM_ATOMIC, &group, &after));
		if (after)
			TRY(passes_without(check, CLAIM_ORDER, &early, &before));
		*found = after;
		if (after)
			tell(check, before ? FINDING_ATOMICITY : FINDING_ORDER, before, &group,
			     before ? "another thread changed the location between two accesses that must be "
				      "one "
				      "step: the crash goes away when its access is moved before them as "
				      "well as "
				      "when it is moved behind them"
				    : "another thread changed the location too early: the crash goes away "
				      "when its "
				      "access is moved behind, not when it is moved before");
		return NULL;
	}
	struct claim_parts pair = parts_of(check, definition, read, NONE);

	TRY(passes_without(check, CLAIM_ORDER, &pair, &after));
	*found = after;
	if (after)
		tell(check, FINDING_ORDER, true, &pair,
		     "one thread changed the location before another had used it: the crash goes away in the "
		     "reverse order");
	return NULL;
}

/* The thread that defined the location had accessed it before, and another one came between the two. */
static struct error *check_definer(struct check *check, size_t definition, bool *found)
{
	const struct event *last = &check->trace->events[definition];
	uint32_t reader = check->reader;
	bool after, before = false;

	check->reader = last->thread;
	size_t between = last_before(check, definition, BY_OTHERS);
	size_t first = between == NONE ? NONE : last_before(check, between, BY_READER);

	check->reader = reader;
	if (first == NONE || claim_is_ordered(check->trace, between, definition) ||
	    check->trace->events[between].write == check->trace->events[first].write)
		return NULL;
	struct claim_parts group = parts_of(check, first, between, definition);
	struct claim_parts early = parts_of(check, first, between, NONE);

	TRY(passes_without(check, CLAIM_ATOMIC, &group, &after));
	if (after)
		TRY(passes_without(check, CLAIM_ORDER, &early, &before));
	*found = after;
	if (after)
		tell(check, FINDING_ATOMICITY, before, &group,
		     before ? "another thread came between two accesses that must be one step: the crash "
			      "goes away "
			      "when its access is moved before them as well as when it is moved behind them"
			    : "another thread came between two accesses that must be one step: the crash "
			      "goes away "
			      "when its access is moved behind them");
	return NULL;
}

/* ---- a write that came too late ---- */

/* The failing schedule without the reader's last turn; then everybody else goes on before the reader does. */
static struct schedule deferred(const struct check *check, uint32_t threads)
{
	struct schedule schedule = schedule_copy(check->schedule);
	size_t n = schedule.nturns;

	while (n && (schedule.turns[n - 1].thread == check->reader || schedule.turns[n - 1].wake))
		n--;
	schedule.turns = memory_resize(schedule.turns, (n + 2 * (threads + 1)) * sizeof *schedule.turns);
	for (int round = 0; round < 2; round++)
		for (uint32_t t = 0; t < threads; t++)
			if (t != check->reader)
				schedule.turns[n++] = (struct schedule_turn){ .thread = t,
									      .stop = STOP_BLOCKED,
									      .points = SCHEDULE_ENDLESS };
	schedule.nturns = n;
	return schedule;
}

static size_t count_reads(const struct observations *trace, const struct event *read, size_t before)
{
	size_t n = 0;

	for (size_t i = 0; i < before; i++)
		n += trace->events[i].site == read->site && trace->events[i].thread == read->thread;
	return n;
}

/* In the deferred run: the last write by others before the read, if it had not been done in the original one. */
static bool find_late_write(const struct check *check, size_t read, const struct observations *other,
			    const struct atlas *atlas, uint64_t read_id, size_t occurrence, struct event *out)
{
	size_t seen = 0, writes = 0, before = 0;

	for (size_t i = 0; i < read; i++)
		before += check->trace->events[i].write && check->trace->events[i].thread != check->reader &&
			  touches(check, &check->trace->events[i]);
	for (size_t i = 0; i < other->nevents; i++) {
		const struct event *event = &other->events[i];

		const struct site *site =
			event->thread == check->reader ? atlas_number(atlas, event->site) : NULL;

		if (site && site->id == read_id && seen++ == occurrence)
			break;
		if (event->write && event->thread != check->reader && touches(check, event)) {
			writes++;
			*out = *event;
		}
	}
	return writes > before;
}

/* Another thread wrote the location after it had been read, and before the crash. */
static struct error *check_next(struct check *check, size_t definition, size_t read, bool *found)
{
	size_t next = read + 1;

	while (next < check->trace->nevents &&
	       !(touches(check, &check->trace->events[next]) && check->trace->events[next].write &&
		 check->trace->events[next].thread != check->reader))
		next++;
	if (next >= check->trace->nevents || claim_is_ordered(check->trace, read, next))
		return NULL;
	bool between = definition != NONE &&
		       check->trace->events[definition].thread == check->trace->events[next].thread;
	struct claim_parts pair = parts_of(check, read, next, NONE);
	struct claim_parts group = parts_of(check, definition, read, next);
	bool before = false;

	TRY(passes_without(check, CLAIM_ORDER, &pair, found));
	if (*found && between) {
		struct claim_parts early = parts_of(check, definition, read, NONE);

		TRY(passes_without(check, CLAIM_ORDER, &early, &before));
	}
	if (*found)
		tell(check, before ? FINDING_ATOMICITY : FINDING_ORDER, true, before ? &group : &pair,
		     before ? "the location was read between two writes that must be one step: the crash "
			      "goes away "
			      "when the read is moved before them as well as when it is moved behind them"
			    : "the location was read before another thread had given it its value: the crash "
			      "goes "
			      "away when the read waits for that");
	return NULL;
}

static struct error *check_late(struct check *check, size_t definition, size_t read, bool *found)
{
	const struct event *use = &check->trace->events[read];
	struct schedule schedule = deferred(check, check->trace->nthreads);
	struct launch_options options = retell_strictly(check->options->launch, &schedule);
	_cleanup_(run_free) struct run run = { 0 };
	_cleanup_(atlas_free) struct atlas atlas = { 0 };
	struct event late;
	bool passes = false;

	options.control.strict = 0;
	options.control.carry = 1;
	options.area.observe |= OBSERVE_TRACE;
	struct error *error = launch_run(&options, &run);

	schedule_free(&schedule);
	if (error)
		return error;
	check->isolation->runs.violation++;
	atlas_read(&atlas, &run.observations);
	const struct site *used = atlas_number(&check->atlas, use->site);

	if (run.label != LABEL_PASS || !used ||
	    !find_late_write(check, read, &run.observations, &atlas, used->id,
			     count_reads(check->trace, use, read), &late) ||
	    !atlas_number(&atlas, late.site))
		return NULL;
	struct claim_part write = { .site = atlas_number(&atlas, late.site),
				    .thread = late.thread,
				    .write = true,
				    .missing = true,
				    .address = late.address,
				    .size = late.size,
				    .at = CLAIM_NOT_TRACED };
	struct claim_parts pair = parts_of(check, read, NONE, NONE);
	bool between = definition != NONE && check->trace->events[definition].thread == late.thread;

	pair.items[pair.n++] = write;
	TRY(passes_without(check, CLAIM_ORDER, &pair, &passes));
	*found = true;
	if (between) {
		struct claim_parts group = parts_of(check, definition, read, NONE);
		struct claim_parts early = group;
		bool before = false;

		TRY(passes_without(check, CLAIM_ORDER, &early, &before));
		group.items[group.n++] = write;
		tell(check, before ? FINDING_ATOMICITY : FINDING_ORDER, passes, before ? &group : &pair,
		     before ? "the location was read between two writes that must be one step: the crash "
			      "goes away "
			      "when the read is moved before them as well as when it is moved behind them"
			    : "the location was read before another thread had given it its value: the crash "
			      "goes "
			      "away when the read waits for that");
		return NULL;
	}
	tell(check, FINDING_ORDER, passes, &pair,
	     "the location was read before another thread had given it its value: the crash goes away when "
	     "the "
	     "read waits for that");
	return NULL;
}

struct error *order_check(const struct isolate_options *options, struct isolation *isolation,
			  const struct schedule *schedule, const struct isolate_hop *hop, bool direct,
			  bool *found)
{
	struct check check = { .options = options,
			       .isolation = isolation,
			       .schedule = schedule,
			       .trace = &isolation->original.observations,
			       .address = hop->address,
			       .size = hop->size ? hop->size : 1,
			       .reader = hop->thread };
	struct error *error = NULL;

	if (check.trace->nthreads < 2 || !schedule->nturns)
		return NULL;
	/* Locations that only one thread ever touched are nobody else's business. */
	size_t read = last_before(&check, check.trace->nevents, READ_BY_READER);

	if (read == NONE)
		read = last_before(&check, check.trace->nevents, BY_READER);
	if (read == NONE)
		return NULL;
	atlas_read(&check.atlas, check.trace);
	size_t definition = last_before(&check, read, WRITE_BY_ANY);

	if (definition != NONE && check.trace->events[definition].thread != check.reader &&
	    !claim_is_ordered(check.trace, definition, read))
		error = check_remote(&check, definition, read, found);
	if (!error && !*found && definition != NONE)
		error = check_definer(&check, definition, found);
	/* What no other thread has touched yet may be about to be: worth one run, at the end of the copies. */
	bool touched = last_before(&check, check.trace->nevents, BY_OTHERS) != NONE;
	bool shared = touched || (!hop->copied && !isolation->waited);

	if (!error && !*found && direct)
		error = check_next(&check, definition, read, found);
	if (!error && !*found && shared && direct)
		isolation->waited |= !touched;
	if (!error && !*found && shared && direct)
		error = check_late(&check, definition, read, found);
	atlas_free(&check.atlas);
	return error;
}
