/* Race, atomicity and order by re-execution (SUPPRESS, Figures 2 and 3). The trace of the
 * original execution tells who accessed a location around the read of it on which the
 * failure depends; an access is moved and the program runs again. Moved to either side of
 * a group without a failure: the group was meant to be one step; to one side only: the
 * order was meant. Sure is what no longer fails then, and fails when it is forced. */
#include "isolate/order_check.h"

#include <stdlib.h>

/* ---- accesses around a read ---- */

static bool touches(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

enum wanted { BY_SAME, BY_OTHERS, WRITE };

/* The last event before `before` at the location of `at` that is as wanted, seen from `thread`. */
static size_t last_before(const struct observations *trace, size_t before, size_t at, uint32_t thread,
			  enum wanted wanted)
{
	const struct event *here = &trace->events[at];

	for (size_t i = before; i-- > 0;) {
		const struct event *event = &trace->events[i];

		if (touches(event, here) && (wanted == WRITE     ? event->write
					     : wanted == BY_SAME ? event->thread == thread
								 : event->thread != thread))
			return i;
	}
	return ORDER_NONE;
}

/* The first write by another thread, or by `writer`, to the location of `at` between the two events. */
static size_t next_write(const struct observations *trace, size_t at, size_t from, size_t to, uint32_t writer)
{
	for (size_t i = from; i < to; i++) {
		const struct event *event = &trace->events[i];

		if (event->write && event->thread != trace->events[at].thread &&
		    (writer == THREAD_NONE || event->thread == writer) && touches(event, &trace->events[at]))
			return i;
	}
	return ORDER_NONE;
}

/* The event of a read: its thread's so many-th one; where suppression has shifted them, the last at the location. */
static size_t event_of(const struct observations *trace, const struct isolate_read *read)
{
	const struct event like = { .address = read->address, .size = read->size ? read->size : 1 };
	size_t last = ORDER_NONE;
	uint64_t order = 0;

	for (size_t i = 0; i < trace->nevents; i++) {
		const struct event *event = &trace->events[i];

		if (event->thread != read->thread)
			continue;
		bool here = touches(event, &like) && event->write == (read->write != 0);

		order++;
		if (here)
			last = i;
		if (here && order >= read->order)
			break;
	}
	return last;
}

/* ---- the patterns ---- */

/* What the failure depends on and the thread had read before `definition`, and whose location the defining thread
 * changed as well before `read`: then both locations belong together. *change: that write. */
static size_t checked_before(const struct order_search *search, size_t read, size_t definition,
			     size_t *change)
{
	const struct observations *trace = search->trace;
	const struct event *defined = &trace->events[definition];
	size_t best = ORDER_NONE;

	for (size_t i = 0; i < search->failure->nreads; i++) {
		size_t at = search->reads[i];

		if (at == ORDER_NONE || at >= definition ||
		    trace->events[at].thread != trace->events[read].thread ||
		    touches(&trace->events[at], defined) || (best != ORDER_NONE && at < best))
			continue;
		size_t write = next_write(trace, at, at + 1, read, defined->thread);

		if (write != ORDER_NONE) {
			best = at;
			*change = write;
		}
	}
	return best;
}

/* The last read before `before` by the thread, of all that the failure depends on. With `used`: only of what it used
 * itself, which for a block that was freed is the pointer to it. */
static size_t depended_before(const struct order_search *search, size_t before, uint32_t thread, bool used)
{
	size_t best = ORDER_NONE;

	for (size_t i = 0; i < search->failure->nreads; i++) {
		size_t at = search->reads[i];

		if (at < before && search->trace->events[at].thread == thread &&
		    (!used || search->failure->reads[i].dependence == READ_USED) &&
		    (best == ORDER_NONE || at > best))
			best = at;
	}
	return best;
}

static uint32_t line_of(const struct order_search *search, size_t event)
{
	const struct site *site = atlas_number(&search->atlas, search->trace->events[event].site);

	return site ? site->line : 0;
}

/* A pointer that was cleared behind its block, which the definer had freed before, and the reader had used or might have:
 * who still read the pointer would have used the block. */
static size_t freed_before(const struct order_search *search, size_t definition)
{
	const struct observations *trace = search->trace;

	for (size_t i = definition; i-- > 0;) {
		const struct event *event = &trace->events[i];

		if (event->thread != trace->events[definition].thread)
			continue;
		const struct site *site = atlas_number(&search->atlas, event->site);

		if (event->write && site && site_frees(site))
			return i;
		if (event->write)
			break;
	}
	return ORDER_NONE;
}

#define HOLDERS_MOST 2 /* structures that a pointer is reached through, the nearest */
/* The pointer to a freed block was read where it was used: then what led to the pointer was kept for too long. */
static struct error *check_holders(struct order_search *search, size_t definition, size_t read)
{
	const struct isolate_failure *failure = search->failure;
	uint32_t reader = search->trace->events[read].thread;
	int tried = 0;

	for (size_t i = 0; i < failure->nreads && tried < HOLDERS_MOST; i++) {
		size_t at = search->reads[i];

		if (at == ORDER_NONE || at >= definition || failure->reads[i].dependence != READ_ADDRESS ||
		    search->trace->events[at].thread != reader ||
		    line_of(search, at) == line_of(search, read))
			continue;
		const size_t group[] = { at, definition, read };

		tried++;
		TRY(order_check_group(search, group, 3, definition, FINDING_ATOMICITY));
	}
	return NULL;
}

/* Another thread defined what was read (RAW), between two accesses of the reader: those that ended in a read. */
static struct error *check_reader_groups(struct order_search *search, size_t definition, size_t read)
{
	uint32_t reader = search->trace->events[read].thread;
	size_t first = last_before(search->trace, definition, read, reader, BY_SAME), change;
	size_t checked = checked_before(search, read, definition, &change);
	size_t pointer = depended_before(search, definition, reader, true);
	bool freed = search->failure->kind == FAILED_DEAD || search->failure->kind == FAILED_FREE;
	const size_t around[] = { first, definition, read };

	/* What the reader had written there itself (a count, say) it looks at again: nearer than its pointer. */
	if (freed && first != ORDER_NONE && search->trace->events[first].write)
		TRY(order_check_group(search, around, 3, definition, FINDING_ATOMICITY));
	if (freed && pointer != ORDER_NONE && read == search->reads[0]) {
		const size_t group[] = { pointer, definition, read };

		TRY(order_check_group(search, group, 3, definition, FINDING_ATOMICITY));
		TRY(check_holders(search, definition, read));
	}
	/* What came before the other thread did anything is no step of a group with it. */
	bool apart = checked != ORDER_NONE && claim_is_ordered(search->trace, checked, change);

	if (checked != ORDER_NONE && !apart && (first == ORDER_NONE || checked > first)) {
		bool change_first = change < definition;
		const size_t group[] = { checked, change_first ? change : definition,
					 change_first ? definition : change, read };

		TRY(order_check_group(search, group, 4, group[2], FINDING_MULTI_ATOMICITY));
	}
	if (first == ORDER_NONE)
		return NULL;
	size_t gone = freed_before(search, definition);
	const size_t with_block[] = { first, gone, read };

	if (gone != ORDER_NONE && gone > first)
		TRY(order_check_group(search, with_block, 3, gone, FINDING_ATOMICITY));
	return order_check_group(search, around, 3, definition, FINDING_ATOMICITY);
}

/* The last access by another thread before the definition that the program did not order (WAR, WAW). */
static size_t before_definition(const struct order_search *search, size_t definition)
{
	uint32_t definer = search->trace->events[definition].thread;
	size_t between = last_before(search->trace, definition, definition, definer, BY_OTHERS);

	return between == ORDER_NONE || claim_is_ordered(search->trace, between, definition) ? ORDER_NONE
											     : between;
}

/* Another thread came between two accesses of the definer to the location. W-R-W and R-W-W are the two that end in
 * a write and cannot be put one after the other. */
static size_t definer_first(const struct order_search *search, size_t between, size_t definition)
{
	const struct observations *trace = search->trace;
	size_t first = last_before(trace, between, definition, trace->events[definition].thread, BY_SAME);

	return first != ORDER_NONE && trace->events[between].write == trace->events[first].write ? ORDER_NONE
												 : first;
}

/* Or between what the definer had read to compute it and the definition. */
static size_t definer_read(const struct order_search *search, size_t between, size_t definition)
{
	const struct observations *trace = search->trace;

	return trace->events[between].write
		       ? depended_before(search, between, trace->events[definition].thread, false)
		       : ORDER_NONE;
}

static struct error *check_definer_groups(struct order_search *search, size_t definition)
{
	size_t between = before_definition(search, definition);

	if (between == ORDER_NONE)
		return NULL;
	const size_t firsts[] = { definer_first(search, between, definition),
				  definer_read(search, between, definition) };

	for (int i = 0; i < 2; i++)
		if (firsts[i] != ORDER_NONE) {
			const size_t group[] = { firsts[i], between, definition };

			TRY(order_check_group(search, group, 3, between, FINDING_ATOMICITY));
		}
	return NULL;
}

/* Or the definer had decided by something else to write it, and another thread has changed that since. */
static struct error *check_decided_groups(struct order_search *search, size_t definition)
{
	const struct observations *trace = search->trace;
	uint32_t definer = trace->events[definition].thread;

	for (size_t i = 0; i < search->failure->nreads; i++) {
		size_t at = search->reads[i];

		if (at == ORDER_NONE || at >= definition || trace->events[at].thread != definer ||
		    search->failure->reads[i].dependence != READ_DECIDED)
			continue;
		size_t change = next_write(trace, at, at + 1, definition, THREAD_NONE);

		/* Only what can come before as well as behind shows that the two belong together. */
		if (change == ORDER_NONE || claim_is_ordered(trace, at, change) ||
		    order_needs(search, at, change) ||
		    touches(&trace->events[change], &trace->events[definition]))
			continue;
		const size_t group[] = { at, change, definition };

		return order_check_group(search, group, 3, change, FINDING_MULTI_ATOMICITY);
	}
	return NULL;
}

/* A location whose value is counted on goes wrong at an update that was lost: another thread wrote between the read
 * and the write of it. That is perhaps long before what was read last: the last one of all. */
static struct error *check_lost_update(struct order_search *search, size_t definition)
{
	const struct observations *trace = search->trace;
	size_t next = ORDER_NONE; /* the access of the location that came behind the one that is looked at */

	for (size_t i = trace->nevents; i-- > 0;) {
		if (!touches(&trace->events[i], &trace->events[definition]))
			continue;
		size_t first = next != ORDER_NONE && trace->events[next].write && trace->events[i].write &&
					       trace->events[i].thread != trace->events[next].thread
				       ? last_before(trace, i, next, trace->events[next].thread, BY_SAME)
				       : ORDER_NONE;

		if (first != ORDER_NONE && !trace->events[first].write && !claim_is_ordered(trace, i, next)) {
			const size_t group[] = { first, i, next };

			return order_check_group(search, group, 3, i, FINDING_ATOMICITY);
		}
		next = i;
	}
	return NULL;
}

/* The write by another thread that came after the read, and that the program did not order. */
static size_t next_change(const struct order_search *search, size_t read)
{
	size_t next = next_write(search->trace, read, read + 1, search->trace->nevents, THREAD_NONE);

	return next == ORDER_NONE || claim_is_ordered(search->trace, read, next) ? ORDER_NONE : next;
}

/* The definition of what was read, by another thread and not ordered by the program. */
static bool is_remote(const struct order_search *search, size_t definition, size_t read)
{
	return definition != ORDER_NONE &&
	       search->trace->events[definition].thread != search->trace->events[read].thread &&
	       !claim_is_ordered(search->trace, definition, read);
}

/* Sequences of three accesses (Figure 3): behind a read, behind its definition, around it. */
static struct error *check_groups(struct order_search *search, size_t read)
{
	const struct observations *trace = search->trace;
	size_t definition = last_before(trace, read, read, 0, WRITE);

	if (definition == ORDER_NONE)
		return NULL;
	if (is_remote(search, definition, read))
		TRY(check_reader_groups(search, definition, read));
	TRY(check_definer_groups(search, definition));
	if (trace->events[definition].thread != trace->events[read].thread)
		TRY(check_decided_groups(search, definition));
	if (search->counted != trace->events[definition].address) {
		search->counted = trace->events[definition].address;
		TRY(check_lost_update(search, definition));
	}
	size_t next = next_change(search, read);

	if (next == ORDER_NONE || !is_remote(search, definition, read) ||
	    trace->events[definition].thread != trace->events[next].thread)
		return NULL;
	const size_t group[] = { definition, read, next };

	return order_check_group(search, group, 3, read, FINDING_ATOMICITY);
}

/* Two accesses in the wrong order: what was read was changed too early, or read too early. */
static struct error *check_pairs(struct order_search *search, size_t read)
{
	size_t definition = last_before(search->trace, read, read, 0, WRITE);
	size_t next = next_change(search, read), there, back;

	if (next != ORDER_NONE && !search->failure->reads[search->reading].write)
		TRY(order_check_pair(search, read, next, ORDER_READ_EARLY));
	if (is_remote(search, definition, read))
		TRY(order_check_pair(search, definition, read, ORDER_CHANGED_EARLY));
	size_t freed = is_remote(search, definition, read) ? freed_before(search, definition) : ORDER_NONE;

	if (freed != ORDER_NONE)
		TRY(order_check_pair(search, freed, read, ORDER_CHANGED_EARLY));
	size_t between = definition != ORDER_NONE ? before_definition(search, definition) : ORDER_NONE;

	if (between == ORDER_NONE || definer_first(search, between, definition) != ORDER_NONE ||
	    definer_read(search, between, definition) != ORDER_NONE)
		return NULL;
	if (order_crosses(search, between, definition, &there, &back)) {
		const size_t group[] = { between, definition, there, back };

		TRY(order_check_group(search, group, 4, there, FINDING_MULTI_ATOMICITY));
	}
	return order_check_pair(search, between, definition, ORDER_CHANGED_EARLY);
}

/* Reads that values came from or that said where these are, or such as branches went by; their groups, or their pairs. */
struct pass {
	bool control, groups;
};

static struct error *check_read(struct order_search *search, size_t number, struct pass pass)
{
	const struct isolate_read *about = &search->failure->reads[number];
	size_t read = search->reads[number];

	if (read == ORDER_NONE || order_is_control(about) != pass.control || order_is_over(search))
		return NULL;
	search->reading = number;
	search->reading_far = order_far(about);
	return pass.groups ? check_groups(search, read) : check_pairs(search, read);
}

/* Groups of three come first (they tell more), then who came too early. With `stale` the first read comes last. */
static struct error *check_reads(struct order_search *search, struct pass pass, bool stale)
{
	for (size_t i = stale; i < search->failure->nreads; i++)
		TRY(check_read(search, i, pass));
	return stale ? check_read(search, 0, pass) : NULL;
}

static struct error *check_all(struct order_search *search, bool stale)
{
	bool first = search->isolation->steps.n == 1;

	if (search->failure->kind == FAILED_HANG)
		TRY(order_check_hang(search));
	if ((search->found && search->verdict != ISOLATE_ORDER) || search->trace->nthreads < 2)
		return NULL;
	if (search->failure->kind != FAILED_HANG && first)
		TRY(order_check_wake(search));
	if (search->failure->kind != FAILED_HANG && first)
		TRY(order_check_twice(search));
	TRY(check_reads(search, (struct pass){ .groups = true }, stale));
	if (first && !order_is_alone(search))
		TRY(order_check_late(search, true));
	TRY(check_reads(search, (struct pass){ 0 }, stale));
	if (first && !order_is_alone(search))
		TRY(order_check_late(search, false));
	TRY(check_reads(search, (struct pass){ .control = true, .groups = true }, stale));
	TRY(check_reads(search, (struct pass){ .control = true }, stale));
	return NULL;
}

static bool has_stale_pointer(const struct order_search *search)
{
	const struct isolate_failure *failure = search->failure;

	if ((failure->kind != FAILED_DEAD && failure->kind != FAILED_FREE) || search->reads[0] == ORDER_NONE)
		return false;
	size_t freed = last_before(search->trace, search->reads[0], search->reads[0], 0, WRITE);

	for (size_t i = 1; freed != ORDER_NONE && i < failure->nreads; i++)
		if (failure->reads[i].dependence == READ_USED && search->reads[i] != ORDER_NONE &&
		    search->reads[i] > freed)
			return true;
	return false;
}

struct error *order_check(const struct isolate_options *options, struct isolation *isolation,
			  const struct schedule *schedule, const struct isolate_failure *failure,
			  uint64_t most, bool *found)
{
	struct order_search search = { .options = options,
				       .isolation = isolation,
				       .schedule = schedule,
				       .failure = failure,
				       .trace = &isolation->original.observations,
				       .reading = ORDER_NONE,
				       .verdict = ISOLATE_ORDER,
				       .most = most };
	struct error *error;

	if ((search.trace->nthreads < 2 && failure->kind != FAILED_HANG) || !schedule->nturns)
		return NULL;
	atlas_read(&search.atlas, search.trace);
	for (size_t i = 0; i < failure->nreads; i++)
		search.reads[i] = event_of(search.trace, &failure->reads[i]);
	/* A pointer that was read only after its block had been freed was read too early or too late: that is nearer
	 * to the cause than the use of the block. */
	error = check_all(&search, has_stale_pointer(&search));
	*found = search.found;
	if (search.found)
		isolation->verdict = search.verdict;
	atlas_free(&search.atlas);
	VEC_FREE(&search.waited);
	VEC_FREE(&search.tried);
	return error;
}
