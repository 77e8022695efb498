/* A thread that was woken and went on without looking again at what it had waited for. It
 * may have been signalled late, by mistake or by the system, and others may have been
 * quicker. The experiment: it waits on as long as nothing that it had looked at has
 * changed, as a loop around the wait would. */
#include "isolate/order_check.h"

/* The last time that the failing thread waited on a condition: it gave the lock up and took it again in one call. */
static bool last_wait(const struct order_search *search, const struct call **left, const struct call **back)
{
	const struct observations *trace = search->trace;

	*left = *back = NULL;
	for (size_t i = trace->ncalls; i-- > 0 && !*left;) {
		const struct call *call = &trace->calls[i];

		if (call->thread != search->failure->thread || call->site == SITE_NIL)
			continue;
		if (*back && call->kind == CALL_RELEASE && call->object == (*back)->object &&
		    call->site == (*back)->site)
			*left = call;
		else
			*back = call->kind == CALL_ACQUIRE ? call : NULL;
	}
	return *left != NULL;
}

/* Does the first further access of the thread to what it had read stand elsewhere? A loop would have read it where it
 * had read it before. */
static size_t next_use(const struct order_search *search, size_t look, size_t from)
{
	const struct event *looked = &search->trace->events[look];

	for (size_t i = from; i < search->trace->nevents; i++) {
		const struct event *event = &search->trace->events[i];

		if (event->thread != looked->thread || event->address >= looked->address + looked->size ||
		    looked->address >= event->address + event->size)
			continue;
		const struct site *one = atlas_number(&search->atlas, looked->site),
				  *other = atlas_number(&search->atlas, event->site);

		return !event->write && one && other && one->line != other->line ? i : ORDER_NONE;
	}
	return ORDER_NONE;
}

/* The look that is told, the last one whose location is used afterwards, and all reads of that section as the claim's
 * first step. */
static size_t find_looks(const struct order_search *search, const struct call *left, const struct call *back,
			 struct claim_step *step, size_t *use)
{
	const struct observations *trace = search->trace;
	size_t best = ORDER_NONE;

	for (size_t i = left->before; i-- > 0 && step->nsites < CLAIM_SITES;) {
		const struct event *event = &trace->events[i];
		const struct site *site = atlas_number(&search->atlas, event->site);

		if (event->thread != left->thread)
			continue;
		if (event->write || !site)
			break;
		size_t next = next_use(search, i, back->before);

		if (next == ORDER_NONE)
			break; /* of an earlier section, or it looked again */
		step->sites[step->nsites++] = site->id;
		if (best == ORDER_NONE || next < *use) {
			best = i;
			*use = next;
		}
	}
	return best;
}

static void add_wait(struct order_search *search, const struct call *wait)
{
	struct finding_accesses *list = &search->isolation->finding.accesses;
	struct finding_access *access =
		finding_add_access(list, FINDING_NO_SITE, atlas_number(&search->atlas, wait->site));

	access->thread = wait->thread;
	access->kind = SITE_SYNC;
	access->role = "wait";
	/* Between the look and what came of it. */
	struct finding_access moved = list->items[list->n - 1];

	for (size_t i = list->n - 1; i > 1; i--)
		list->items[i] = list->items[i - 1];
	list->items[1] = moved;
}

struct error *order_check_wake(struct order_search *search)
{
	struct claim claim = { .kind = CLAIM_LOOK_AGAIN, .use = CLAIM_FORBID, .nsteps = 2, .nroles = 1 };
	const struct call *left, *back;
	struct order_move move;
	size_t use = ORDER_NONE;

	if (!last_wait(search, &left, &back))
		return NULL;
	size_t look = find_looks(search, left, back, &claim.steps[0], &use);
	const struct site *wait = atlas_number(&search->atlas, left->site);

	if (look == ORDER_NONE || !wait || order_is_over(search))
		return NULL;
	claim.steps[1].nsites = claim_collect_sites(&search->atlas, wait, claim.steps[1].sites, CLAIM_SITES);
	claim.steps[0].thread = claim.steps[1].thread = left->thread;
	claim.steps[1].write = 1;
	if (!claim_is_sound(&claim))
		return NULL;
	struct claim_parts pair = order_parts(search, (const size_t[]){ look, use }, 2);

	TRY(order_run_once(search, &claim, &pair, CLAIM_ATOMIC, &move));
	if (!move.passes)
		return NULL;
	search->reading = ORDER_NONE;
	order_tell(search, FINDING_ATOMICITY, ORDER_WOKEN, move.given_up ? ORDER_GIVEN_UP : ORDER_SHOWN,
		   &pair);
	add_wait(search, left);
	return NULL;
}
