/* Events at the finding's lines are picked out of the trace, each with the accesses it
 * may stand for; then every choice of threads is tried, for findings on one variable
 * location by location.
 */
#include "diagnose/shown_accesses.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MOST 16
#define EVENTS_MOST 50000 /* the last ones at these lines */
#define THREADS_MOST 12

struct pick {
	uint64_t address;
	size_t at; /* in the trace */
	uint32_t thread;
	uint32_t steps; /* accesses of the finding that it may be, as bits */
};

struct picks {
	struct pick *items;
	size_t n, room; /* as VEC */
};

bool trace_is_access(const struct site *site, bool write, const struct finding_access *access)
{
	return site->line == access->line && write == (access->kind == SITE_WRITE) &&
	       !strcmp(site->file, access->file);
}

/* For each site, which accesses of the finding it may be: as a read at 2i, as a write at 2i + 1. */
static uint32_t *sites_of(const struct trace *trace, const struct finding *finding)
{
	const struct atlas *atlas = trace->atlas;
	uint32_t *steps = memory_alloc((2 * atlas->nnumbered + 2) * sizeof *steps);

	for (size_t i = 0; i < atlas->nnumbered; i++)
		for (size_t j = 0; atlas->numbered[i] && j < finding->accesses.n && j < STEPS_MOST; j++)
			for (int write = 0; write < 2; write++)
				if (trace_is_access(atlas->numbered[i], write, &finding->accesses.items[j]))
					steps[2 * i + (size_t)write] |= 1u << j;
	return steps;
}

static void pick_events(const struct trace *trace, const struct finding *finding, struct picks *out)
{
	const struct observations *run = trace->run;
	_cleanup_free_ uint32_t *steps = sites_of(trace, finding);

	for (size_t i = run->nevents; i-- > 0 && out->n < EVENTS_MOST;) {
		const struct event *event = &run->events[i];
		uint32_t some =
			event->site < trace->atlas->nnumbered ? steps[2 * event->site + event->write] : 0;

		if (some)
			*VEC_PUSH(out) = (struct pick){ event->address, i, event->thread, some };
	}
}

static int by_address(const void *left, const void *right)
{
	const struct pick *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int by_time(const void *left, const void *right)
{
	const struct pick *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* Roles: the finding's threads, numbered as they appear. */
struct roles {
	unsigned of[STEPS_MOST], n; /* by step */
	uint32_t thread[STEPS_MOST];
};

static void find_roles(const struct finding *finding, struct roles *roles)
{
	uint32_t known[STEPS_MOST];

	roles->n = 0;
	for (size_t i = 0; i < finding->accesses.n && i < STEPS_MOST; i++) {
		unsigned role = 0;

		/* Whoever is not known is nobody of the others. */
		while (role < roles->n &&
		       (known[role] != finding->accesses.items[i].thread || known[role] == FINDING_NO_THREAD))
			role++;
		if (role == roles->n)
			known[roles->n++] = finding->accesses.items[i].thread;
		roles->of[i] = role;
	}
}

/* Do the picks hold the accesses in their order, done by these threads? Between two accesses of
 * different threads the first one's thread must not have gone on to a later access by itself. */
static bool runs_through(const struct finding *finding, const struct roles *roles, const struct pick *picks,
			 size_t n)
{
	size_t steps = finding->accesses.n < STEPS_MOST ? finding->accesses.n : STEPS_MOST, next = 0;
	const struct finding_access *accesses = finding->accesses.items;

	for (size_t i = 0; i < n && next < steps; i++) {
		const struct pick *pick = &picks[i];

		if (pick->steps >> next & 1 && pick->thread == roles->thread[roles->of[next]] &&
		    !accesses[next].missing) {
			next++;
		} else if (next > 0) {
			/* Done without the others in between: begin again, here if it may be the first. */
			bool undone = false;

			for (size_t j = next + 1; j < steps; j++)
				undone |= pick->steps >> j & 1 && pick->thread == roles->thread[roles->of[j]];
			if (undone)
				next = pick->steps & 1 && pick->thread == roles->thread[roles->of[0]];
			else if (next == 1 && pick->steps & 1 && pick->thread == roles->thread[roles->of[0]])
				next = 1;
		} else {
			/* What never ran in the failed run must not have run before. */
			for (size_t j = 0; j < steps; j++)
				if (accesses[j].missing && pick->steps >> j & 1)
					return false;
		}
	}
	while (next < steps && accesses[next].missing)
		next++;
	return next == steps;
}

/* A pair of an order violation: the first access came when the other had not yet been done. */
static bool comes_first(const struct roles *roles, const struct pick *picks, size_t n)
{
	bool seen = false;

	for (size_t i = 0; i < n; i++) {
		bool first = picks[i].steps & 1 && picks[i].thread == roles->thread[0];
		bool second = picks[i].steps & 2 && picks[i].thread == roles->thread[roles->of[1]];

		if (second)
			return seen;
		seen |= first;
	}
	return seen; /* the other has never been done */
}

static bool fits(const struct finding *finding, const struct roles *roles, const struct pick *picks, size_t n)
{
	if (finding->class == FINDING_ORDER && finding->accesses.n == 2 && roles->n == 2 &&
	    comes_first(roles, picks, n))
		return true;
	return runs_through(finding, roles, picks, n);
}

/* Every choice of different threads for the roles from `role` on. */
static bool choose(const struct finding *finding, struct roles *roles, unsigned role, const uint32_t *threads,
		   size_t nthreads, const struct pick *picks, size_t n)
{
	if (role == roles->n)
		return fits(finding, roles, picks, n);
	for (size_t i = 0; i < nthreads; i++) {
		bool taken = false;

		for (unsigned j = 0; j < role; j++)
			taken |= roles->thread[j] == threads[i];
		if (taken)
			continue;
		roles->thread[role] = threads[i];
		if (choose(finding, roles, role + 1, threads, nthreads, picks, n))
			return true;
	}
	return false;
}

static bool holds(const struct finding *finding, struct roles *roles, const struct pick *picks, size_t n)
{
	uint32_t threads[THREADS_MOST];
	size_t nthreads = 0;

	for (size_t i = 0; i < n && nthreads < THREADS_MOST; i++) {
		size_t j = 0;

		while (j < nthreads && threads[j] != picks[i].thread)
			j++;
		if (j == nthreads)
			threads[nthreads++] = picks[i].thread;
	}
	/* A thread that never came to its access is none of these. */
	if (nthreads < roles->n && nthreads < THREADS_MOST)
		threads[nthreads++] = FINDING_NO_THREAD;
	return choose(finding, roles, 0, threads, nthreads, picks, n);
}

static bool on_one_variable(const struct finding *finding)
{
	return finding->class == FINDING_ATOMICITY || finding->class == FINDING_ORDER;
}

enum opinion_word trace_word(const void *context, const struct finding *finding)
{
	const struct trace *trace = context;
	struct picks picks = { 0 };
	struct roles roles = { 0 };
	bool found = false;

	if (!trace->run || !trace->run->nevents || finding->accesses.n < 2 || finding_has_calls(finding))
		return WORD_NOTHING;
	find_roles(finding, &roles);
	if (roles.n < 2 || roles.n > 3)
		return WORD_NOTHING;
	pick_events(trace, finding, &picks);
	if (on_one_variable(finding)) {
		if (picks.n)
			qsort(picks.items, picks.n, sizeof *picks.items, by_address);
		for (size_t i = 0, end; i < picks.n && !found; i = end) {
			for (end = i; end < picks.n && picks.items[end].address == picks.items[i].address;)
				end++;
			found = holds(finding, &roles, picks.items + i, end - i);
		}
	} else if (picks.n) {
		qsort(picks.items, picks.n, sizeof *picks.items, by_time);
		found = holds(finding, &roles, picks.items, picks.n);
	}
	VEC_FREE(&picks);
	return found ? WORD_YES : trace->run->dropped ? WORD_NOTHING : WORD_NO;
}

const struct site *trace_last(const struct trace *trace, uint32_t *thread, bool *write)
{
	if (!trace->run || !trace->run->nevents || trace->run->dropped)
		return NULL;
	const struct event *event = &trace->run->events[trace->run->nevents - 1];

	if (thread)
		*thread = event->thread;
	if (write)
		*write = event->write;
	return atlas_number(trace->atlas, event->site);
}

/* A crash elsewhere says nothing: a bad pointer may be used late. */
enum opinion_word trace_crash_word(const void *context, const struct finding *finding)
{
	bool write;
	const struct site *last = trace_last(context, NULL, &write);

	for (size_t i = 0; last && i < finding->accesses.n; i++)
		if (trace_is_access(last, write, &finding->accesses.items[i]))
			return WORD_YES;
	return WORD_NOTHING;
}

void trace_name_threads(const struct trace *trace, struct finding *finding)
{
	uint32_t taken = FINDING_NO_THREAD;

	for (size_t i = 0; trace->run && i < finding->accesses.n; i++) {
		struct finding_access *access = &finding->accesses.items[i];

		for (size_t at = trace->run->nevents; at-- > 0 && access->thread == FINDING_NO_THREAD;) {
			const struct event *event = &trace->run->events[at];
			const struct site *site = atlas_number(trace->atlas, event->site);

			if (site && event->thread != taken && trace_is_access(site, event->write, access))
				access->thread = event->thread;
		}
		taken = access->thread;
	}
}
