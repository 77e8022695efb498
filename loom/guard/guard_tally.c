/* Violations by site and predecessor: how often they were resolved by waiting and how
 * often not. A stall that was in vain makes the next one for the same pair half as long,
 * so that a false alarm costs little more than one stall in a whole run; one that helped
 * brings the full limit back.
 */
#include <string.h>

#include "loom/guard/guard.h"

#define TALLIES (1u << 11)
#define LOGGED_SINGLY 8u /* of each kind; then at every doubling */
#define SHORTEST_US 40u  /* less is not worth a stall */
#define TRIED_AGAIN 64u  /* stalls in vain */
#define STALLED 256u     /* threads whose stall is known if the process ends in it */

struct tally {
	uint32_t key; /* site << 16 | before; 0: free. No site is 0 */
	uint32_t in_vain;
	uint32_t resolved, unresolved;
	uint32_t logged_resolved, logged_unresolved;
	uint32_t why; /* enum guard_why */
};

static struct tally tallies[TALLIES];
static struct stalled {
	uint32_t site, before; /* site: 0 where nobody is */
	uint32_t why;
	uint64_t address, limit_us, started_us;
	uint64_t looked_us; /* when `before` was there last */
} stalled[STALLED];         /* by thread */

/* The tally of a pair. When all places are taken others share one: its figures are then of several pairs, and
 * only they are inexact. */
static struct tally *tally_of(uint32_t site, uint32_t before)
{
	uint32_t key = site << 16 | before, at = (key * 2654435761u) >> 21;

	for (unsigned tries = 0; tries < 64; tries++, at++) {
		struct tally *tally = &tallies[at % TALLIES];
		uint32_t held = __atomic_load_n(&tally->key, __ATOMIC_RELAXED);

		/* A key is set once and stays, so there is nothing to order it with. */
		if (held == 0 && __atomic_compare_exchange_n(&tally->key, &held, key, false, __ATOMIC_RELAXED,
							     __ATOMIC_RELAXED))
			return tally;
		if (held == key)
			return tally;
	}
	return &tallies[at % TALLIES];
}

bool guard_tally_is_doubted(uint32_t site, uint32_t before)
{
	uint32_t key = site << 16 | before, low = 0, high = unsnarl_guard_data->ndoubted;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (unsnarl_guard_data->doubted[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < unsnarl_guard_data->ndoubted && unsnarl_guard_data->doubted[low] == key;
}

/* Of two threads that wait for each other, one for what was never seen, the other has to give up first: so what is
 * only in doubt is waited for a quarter of the limit, and up to three such waits in a row end in time. */
uint64_t guard_tally_limit(uint32_t site, uint32_t before)
{
	uint32_t in_vain = __atomic_load_n(&tally_of(site, before)->in_vain, __ATOMIC_RELAXED);
	uint64_t most =
		guard_tally_is_doubted(site, before) ? guard_settings.limit_us / 4 : guard_settings.limit_us;
	uint64_t limit = in_vain < 32 ? most >> in_vain : 0;

	/* What waited in vain long ago may be the fault now: each time that there are twice as many, once more. */
	if (in_vain >= TRIED_AGAIN && (in_vain & (in_vain - 1)) == 0)
		limit = most / 2;
	return limit >= SHORTEST_US ? limit : 0;
}

/* Is the n-th violation of its kind worth a line? */
static bool is_logged(uint32_t n)
{
	return n <= LOGGED_SINGLY || (n & (n - 1)) == 0;
}

void guard_tally(const struct guard_violation *violation)
{
	struct tally *tally = tally_of(guard_word_site(violation->site), guard_word_site(violation->before));
	uint32_t *count = violation->resolved ? &tally->resolved : &tally->unresolved;
	uint32_t *logged = violation->resolved ? &tally->logged_resolved : &tally->logged_unresolved;
	uint32_t n = __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&tally->why, violation->why, __ATOMIC_RELAXED);
	if (violation->resolved)
		__atomic_store_n(&tally->in_vain, 0, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&tally->in_vain, 1, __ATOMIC_RELAXED);
	if (!is_logged(n))
		return;
	uint32_t before = __atomic_exchange_n(logged, n, __ATOMIC_RELAXED);

	guard_log(violation, n > before ? n - before : 1, violation->resolved ? "resolved" : "unresolved");
}

/* More threads than there are places may overwrite each other: then a stall is not known of, and no more. */
void guard_tally_begin(const struct guard_violation *violation, const struct guard_pace *pace)
{
	struct stalled *place = &stalled[guard_self % STALLED];

	__atomic_store_n(&place->before, violation->before, __ATOMIC_RELAXED);
	__atomic_store_n(&place->why, violation->why, __ATOMIC_RELAXED);
	__atomic_store_n(&place->address, violation->address, __ATOMIC_RELAXED);
	__atomic_store_n(&place->limit_us, pace->limit_us, __ATOMIC_RELAXED);
	__atomic_store_n(&place->looked_us, pace->started_us, __ATOMIC_RELAXED);
	__atomic_store_n(&place->started_us, pace->started_us, __ATOMIC_RELAXED);
	/* Pairs with the acquire in stall_of and log_stalled. */
	__atomic_store_n(&place->site, violation->site, __ATOMIC_RELEASE);
}

void guard_tally_awaits(uint32_t before, uint64_t looked_us)
{
	struct stalled *place = &stalled[guard_self % STALLED];

	__atomic_store_n(&place->before, before, __ATOMIC_RELAXED);
	/* Pairs with the acquire in guard_tally_is_awaited. */
	__atomic_store_n(&place->looked_us, looked_us, __ATOMIC_RELEASE);
}

void guard_tally_ended(void)
{
	__atomic_store_n(&stalled[guard_self % STALLED].site, 0, __ATOMIC_RELEASE);
}

/* The stall that a thread is in; NULL when it is in none, as far as is known. */
static const struct stalled *stall_of(uint32_t thread)
{
	const struct stalled *place = &stalled[thread % STALLED];
	uint32_t site = __atomic_load_n(&place->site, __ATOMIC_ACQUIRE);

	return site && guard_word_thread(site) == thread ? place : NULL;
}

bool guard_tally_is_awaited(uint64_t address, uint32_t word, uint32_t by, uint64_t since_us)
{
	const struct stalled *place = stall_of(by);

	return place && __atomic_load_n(&place->looked_us, __ATOMIC_ACQUIRE) > since_us &&
	       __atomic_load_n(&place->address, __ATOMIC_RELAXED) == address &&
	       __atomic_load_n(&place->before, __ATOMIC_RELAXED) == word;
}

static bool is_weaker(const struct stalled *one, const struct stalled *other)
{
	uint64_t limit = __atomic_load_n(&one->limit_us, __ATOMIC_RELAXED),
		 other_limit = __atomic_load_n(&other->limit_us, __ATOMIC_RELAXED);
	uint64_t since = __atomic_load_n(&one->started_us, __ATOMIC_RELAXED),
		 other_since = __atomic_load_n(&other->started_us, __ATOMIC_RELAXED);

	if (limit != other_limit)
		return limit < other_limit;
	return since != other_since ? since < other_since : one < other;
}

bool guard_tally_is_held(bool *weakest)
{
	const struct stalled *own = stall_of(guard_self), *at = own;

	*weakest = true;
	for (unsigned steps = 0; at && steps < STALLED; steps++) {
		uint32_t next = guard_word_thread(__atomic_load_n(&at->before, __ATOMIC_RELAXED));

		/* Who waits for nobody in particular may well wait for this thread. */
		if (next == guard_self || (at != own && (!next || next == GUARD_SEVERAL)))
			return !*weakest;
		at = stall_of(next);
		if (at && is_weaker(at, own))
			*weakest = false;
	}
	/* Others are in a circle, or at its end somebody can go on. */
	*weakest = false;
	return own && stall_of(guard_word_thread(__atomic_load_n(&own->before, __ATOMIC_RELAXED)));
}

void guard_tally_forget(void)
{
	memset(stalled, 0, sizeof stalled);
	for (unsigned i = 0; i < TALLIES; i++) {
		tallies[i].logged_resolved = tallies[i].resolved;
		tallies[i].logged_unresolved = tallies[i].unresolved;
	}
}

static void log_rest(struct tally *tally, bool resolved)
{
	uint32_t count = resolved ? tally->resolved : tally->unresolved;
	uint32_t *logged = resolved ? &tally->logged_resolved : &tally->logged_unresolved;
	const struct guard_violation violation = { .why = tally->why,
						   .site = guard_word(tally->key >> 16, 0),
						   .before = guard_word(tally->key & 0xffff, 0),
						   .resolved = resolved };
	uint32_t before = __atomic_exchange_n(logged, count, __ATOMIC_RELAXED);

	if (count > before)
		guard_log(&violation, count - before, resolved ? "resolved" : "unresolved");
}

void guard_tally_end(void)
{
	for (unsigned i = 0; i < TALLIES; i++)
		if (tallies[i].key) {
			log_rest(&tallies[i], true);
			log_rest(&tallies[i], false);
		}
	for (unsigned i = 0; i < STALLED; i++) {
		uint32_t site = __atomic_exchange_n(&stalled[i].site, 0, __ATOMIC_ACQUIRE);
		const struct guard_violation violation = { .why = stalled[i].why,
							   .site = site,
							   .before = stalled[i].before };

		if (site)
			guard_log(&violation, 1, "unfinished");
	}
}
