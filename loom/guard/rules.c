/* Emergency rules: one known fault is held down, whatever else threads do. A group of
 * accesses is one step for others: who would touch its location waits until the thread
 * that is in it has done the last one. An early access waits until the late one has been
 * done at its location. Both wait at most for the limit.
 */
#include "loom/guard/guard.h"

#define CLAIMS 64u   /* threads within a group at a time; more are not held */
#define PLACES 1024u /* words of 4 bytes at which the late access is known to be done */
#define WORD 4u
#define WORDS_MOST 64u /* of one access */
#define RULES 64u
#define CLAIM_INSIDE 0x10000u
#define CLAIM_NUMBER 0xffffu
#define CLAIM_TAKEN 0x20000u /* being written: nobody's yet */

struct claim {
	uint32_t thread; /* 0: free; its number, a wish; with CLAIM_INSIDE: it is in the group */
	uint64_t ticket; /* of wishes the lowest goes first */
	uint64_t address, size;
	uint64_t since_us;
	uint64_t over_us; /* not 0: over at this time, if it has not been given up before */
};

/* Hooks of observed programs stand before accesses: what is to be said behind one is due a while later, if the
 * thread has not come to another hook by then. */
#define SOON 64u

struct soon {            /* late accesses of orders that are about to be done */
	uint64_t due_us; /* 0: free */
	uint64_t rule, address, size;
};
static struct soon soon[SOON];

/* Far more than an access takes, also of a thread that loses its processor before it. */
static uint64_t soon_us(void)
{
	return guard_now_us() + guard_settings.limit_us / 8;
}

static struct {
	uint32_t claimed; /* how many claims there are, or a few more: 0 is the rule, and asks no more */
	uint32_t top;     /* claims from here on were never used */
	uint64_t tickets; /* given out */
	uint32_t lost;    /* a location was pushed out of `done`: from then on nothing is known */
	struct claim claims[CLAIMS];
	uint64_t done[PLACES];
} rules[RULES];

static bool is_ready(uint64_t rule)
{
	if (!guard_self)
		guard_register();
	return rule < RULES && rule < unsnarl_guard_data->nrules && !guard_settings.off;
}

/* Microseconds since a claim was made, seen at `now`. It may have been made after `now` was taken: then 0. */
static uint64_t claim_age(const struct claim *claim, uint64_t now)
{
	uint64_t since = __atomic_load_n(&claim->since_us, __ATOMIC_RELAXED);

	return now > since ? now - since : 0;
}

/* How many claims have to be looked at. A claim is made known after it was counted here, so who looks behind
 * its own wish misses none. */
static uint32_t claims_used(uint64_t rule)
{
	return __atomic_load_n(&rules[rule].top, __ATOMIC_SEQ_CST);
}

/* Claims older than the limit are of threads that left on another way. */
static bool is_alive(const struct claim *claim)
{
	uint64_t over = __atomic_load_n(&claim->over_us, __ATOMIC_RELAXED), now = guard_now_us();

	return claim_age(claim, now) < guard_settings.limit_us && (!over || now < over);
}

static bool meets(uint64_t rule, const struct claim *claim, uint64_t address, uint64_t size)
{
	uint64_t at = __atomic_load_n(&claim->address, __ATOMIC_RELAXED);
	uint64_t length = __atomic_load_n(&claim->size, __ATOMIC_RELAXED);

	return unsnarl_guard_data->rules[rule].apart ||
	       (at < address ? address - at < length : at - address < size);
}

/* Who keeps us from `address`; 0 when nobody does. Without a claim of our own (NULL) that is who is in the group;
 * with one also who made a wish before us, and whoever is about to make one, since it may have been before. This
 * is the bakery algorithm: of two that wish at once one sees the other, and they agree on who goes first. */
static uint32_t blocker(uint64_t rule, const struct claim *own, uint64_t address, uint64_t size)
{
	/* Pairs with the count in claim_free: who is not counted yet gets a later ticket, and sees ours. */
	if (__atomic_load_n(&rules[rule].claimed, __ATOMIC_SEQ_CST) <= (own ? 1 : 0))
		return 0;
	for (unsigned i = 0; i < claims_used(rule); i++) {
		const struct claim *claim = &rules[rule].claims[i];
		uint32_t thread = __atomic_load_n(&claim->thread, __ATOMIC_SEQ_CST);

		if (claim == own || !thread || (thread & CLAIM_NUMBER) == guard_self)
			continue;
		if (thread == CLAIM_TAKEN) {
			if (own)
				return CLAIM_TAKEN;
			continue;
		}
		bool first = thread & CLAIM_INSIDE ||
			     (own && __atomic_load_n(&claim->ticket, __ATOMIC_RELAXED) < own->ticket);

		if (first && meets(rule, claim, address, size) && is_alive(claim))
			return thread;
	}
	return 0;
}

/* Waits until nobody keeps us from it, within the limit. */
static void wait_for_group(uint64_t rule, const struct claim *own, uint64_t address, uint64_t size,
			   uint32_t site)
{
	uint32_t first = unsnarl_guard_data->rules[rule].first;
	uint32_t thread = blocker(rule, own, address, size);
	struct guard_violation violation = { .why = GUARD_INSIDE, .site = guard_word(site, guard_self) };
	struct guard_pace pace;

	/* A wish is made known in a few steps: that is not worth a violation. */
	for (unsigned patience = 0; thread == CLAIM_TAKEN && patience < 1000; patience++) {
		__builtin_ia32_pause();
		thread = blocker(rule, own, address, size);
	}
	if (!thread)
		return;
	violation.before = guard_word(first, thread & CLAIM_NUMBER);
	guard_pace_start(&pace, guard_tally_limit(site, first));
	guard_tally_begin(&violation, &pace);
	while (!violation.resolved && guard_pace_step(&pace))
		violation.resolved = !blocker(rule, own, address, size);
	violation.waited_us = guard_now_us() - pace.started_us;
	guard_tally_ended();
	guard_tally(&violation);
}

GUARD_HOOK void unsnarl_guard_wait(uint64_t rule, uint64_t address, uint64_t size, uint64_t site)
{
	if (is_ready(rule) && __atomic_load_n(&rules[rule].claimed, __ATOMIC_ACQUIRE))
		wait_for_group(rule, NULL, address, size, (uint32_t)site);
}

static void give_up(uint64_t rule)
{
	for (unsigned i = 0; i < claims_used(rule); i++) {
		struct claim *claim = &rules[rule].claims[i];
		uint32_t held = __atomic_load_n(&claim->thread, __ATOMIC_RELAXED);

		if ((held & CLAIM_NUMBER) == guard_self &&
		    __atomic_compare_exchange_n(&claim->thread, &held, 0, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			__atomic_fetch_sub(&rules[rule].claimed, 1, __ATOMIC_ACQ_REL);
	}
}

/* A claim of this thread: the one it has, a free one, or one that was left behind long ago; NULL when all are
 * in use. It begins as a wish. */
static struct claim *claim_free(uint64_t rule, uint64_t address, uint64_t size)
{
	uint64_t now = guard_now_us(), stale = 2 * (uint64_t)guard_settings.limit_us + 1000000;

	if (__atomic_load_n(&rules[rule].claimed, __ATOMIC_ACQUIRE))
		give_up(rule);
	for (unsigned i = 0; i < CLAIMS; i++) {
		struct claim *claim = &rules[rule].claims[i];
		uint32_t held = __atomic_load_n(&claim->thread, __ATOMIC_ACQUIRE);

		/* One that is being written has the time of its last owner still. */
		if (held == CLAIM_TAKEN || (held && claim_age(claim, now) <= stale))
			continue;
		if (!__atomic_compare_exchange_n(&claim->thread, &held, CLAIM_TAKEN, false, __ATOMIC_SEQ_CST,
						 __ATOMIC_RELAXED))
			continue;
		if (!held)
			__atomic_fetch_add(&rules[rule].claimed, 1, __ATOMIC_SEQ_CST);
		for (uint32_t top = claims_used(rule); top <= i;)
			if (__atomic_compare_exchange_n(&rules[rule].top, &top, i + 1, false,
							__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				break;
		__atomic_store_n(&claim->address, address, __ATOMIC_RELAXED);
		__atomic_store_n(&claim->size, size, __ATOMIC_RELAXED);
		__atomic_store_n(&claim->since_us, now, __ATOMIC_RELAXED);
		__atomic_store_n(&claim->over_us, 0, __ATOMIC_RELAXED);
		/* Behind the mark CLAIM_TAKEN: who did not see that has a lower ticket. */
		__atomic_store_n(&claim->ticket,
				 __atomic_fetch_add(&rules[rule].tickets, 1, __ATOMIC_SEQ_CST),
				 __ATOMIC_RELAXED);
		/* In one order with the looks of others: of two that wish at once, one sees the other. */
		__atomic_store_n(&claim->thread, guard_self, __ATOMIC_SEQ_CST);
		return claim;
	}
	return NULL;
}

/* The thread's claim, when it is in the group already and has all of this there; NULL when not. */
static struct claim *claim_around(uint64_t rule, uint64_t address, uint64_t size)
{
	if (!__atomic_load_n(&rules[rule].claimed, __ATOMIC_ACQUIRE))
		return NULL;
	for (unsigned i = 0; i < claims_used(rule); i++) {
		struct claim *claim = &rules[rule].claims[i];

		/* What is its own nobody else changes, but for the place of a claim that is too old. */
		if (__atomic_load_n(&claim->thread, __ATOMIC_ACQUIRE) == (guard_self | CLAIM_INSIDE) &&
		    claim->address <= address && address - claim->address <= claim->size &&
		    size <= claim->size - (address - claim->address))
			return claim;
	}
	return NULL;
}

/* Makes the thread the only one in the group, at an access of `site`; within the limit. Who comes first goes in
 * first: else one that waits could starve while others take turns. */
static void enter(uint64_t rule, uint64_t address, uint64_t size, uint32_t site)
{
	struct claim *claim = claim_free(rule, address, size);

	wait_for_group(rule, claim, address, size, site);
	if (!claim)
		return;
	__atomic_store_n(&claim->since_us, guard_now_us(), __ATOMIC_RELAXED); /* it counts from here on */
	__atomic_store_n(&claim->thread, guard_self | CLAIM_INSIDE, __ATOMIC_SEQ_CST);
}

/* Is the thread in the group with all of this? */
static bool is_inside(uint64_t rule, uint64_t address, uint64_t size)
{
	struct claim *around = claim_around(rule, address, size);

	return around && claim_age(around, guard_now_us()) < guard_settings.limit_us;
}

GUARD_HOOK void unsnarl_guard_enter(uint64_t rule, uint64_t address, uint64_t size)
{
	/* Entered before a lock was taken: to leave and enter again would let others in. */
	if (is_ready(rule) && !is_inside(rule, address, size))
		enter(rule, address, size, unsnarl_guard_data->rules[rule].first);
}

/* By rule: this thread is in the group for one access only. */
static __thread uint64_t touching __attribute__((tls_model("initial-exec")));

GUARD_HOOK void unsnarl_guard_touch(uint64_t rule, uint64_t address, uint64_t size, uint64_t site)
{
	if (!is_ready(rule) || is_inside(rule, address, size))
		return;
	enter(rule, address, size, (uint32_t)site);
	touching |= 1ull << rule;
}

GUARD_HOOK void unsnarl_guard_touched(uint64_t rule)
{
	if (!is_ready(rule) || !(touching >> rule & 1))
		return;
	touching &= ~(1ull << rule);
	give_up(rule);
}

GUARD_HOOK void unsnarl_guard_leave(uint64_t rule)
{
	if (is_ready(rule) && __atomic_load_n(&rules[rule].claimed, __ATOMIC_ACQUIRE))
		give_up(rule);
}

void unsnarl_guard_leave_soon(uint64_t rule)
{
	uint64_t over = soon_us();

	for (unsigned i = 0; is_ready(rule) && i < claims_used(rule); i++)
		if (__atomic_load_n(&rules[rule].claims[i].thread, __ATOMIC_RELAXED) ==
		    (guard_self | CLAIM_INSIDE))
			__atomic_store_n(&rules[rule].claims[i].over_us, over, __ATOMIC_RELAXED);
}

void unsnarl_guard_touched_soon(uint64_t rule)
{
	if (is_ready(rule) && touching >> rule & 1)
		unsnarl_guard_leave_soon(rule);
}

/* ---- order ---- */

static uint64_t *done_at(uint64_t rule, uint64_t address)
{
	return &rules[rule].done[(address / WORD ^ address >> 12) % PLACES];
}

GUARD_HOOK void unsnarl_guard_done(uint64_t rule, uint64_t address, uint64_t size)
{
	uint64_t end = address + (size < WORDS_MOST * WORD ? size : WORDS_MOST * WORD);

	if (!is_ready(rule))
		return;
	for (uint64_t at = address & ~(uint64_t)(WORD - 1); at < end; at += WORD) {
		uint64_t *place = done_at(rule, at), held = __atomic_load_n(place, __ATOMIC_RELAXED);

		if (held == at)
			continue;
		if (held)
			__atomic_store_n(&rules[rule].lost, 1, __ATOMIC_RELAXED);
		/* The late access stands before this in its thread; who sees the address sees what it did. */
		__atomic_store_n(place, at, __ATOMIC_RELEASE);
	}
}

void unsnarl_guard_done_soon(uint64_t rule, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; is_ready(rule) && i < SOON; i++) {
		uint64_t none = 0;

		if (!__atomic_compare_exchange_n(&soon[i].due_us, &none, UINT64_MAX, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&soon[i].rule, rule, __ATOMIC_RELAXED);
		__atomic_store_n(&soon[i].address, address, __ATOMIC_RELAXED);
		__atomic_store_n(&soon[i].size, size, __ATOMIC_RELAXED);
		__atomic_store_n(&soon[i].due_us, soon_us(), __ATOMIC_RELEASE);
		return;
	}
}

static void do_due(void)
{
	uint64_t now = 0;

	for (unsigned i = 0; i < SOON; i++) {
		uint64_t due = __atomic_load_n(&soon[i].due_us, __ATOMIC_ACQUIRE);

		now = now || !due ? now : guard_now_us();
		if (!due || now < due)
			continue;
		uint64_t rule = __atomic_load_n(&soon[i].rule, __ATOMIC_RELAXED),
			 address = __atomic_load_n(&soon[i].address, __ATOMIC_RELAXED),
			 size = __atomic_load_n(&soon[i].size, __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&soon[i].due_us, &due, 0, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			unsnarl_guard_done(rule, address, size);
	}
}

static bool is_done(uint64_t rule, uint64_t address, uint64_t size)
{
	uint64_t end = address + (size < WORDS_MOST * WORD ? size : WORDS_MOST * WORD);

	if (__atomic_load_n(&rules[rule].lost, __ATOMIC_RELAXED))
		return true;
	for (uint64_t at = address & ~(uint64_t)(WORD - 1); at < end; at += WORD)
		if (__atomic_load_n(done_at(rule, at), __ATOMIC_ACQUIRE) != at)
			return false;
	return true;
}

GUARD_HOOK void unsnarl_guard_await(uint64_t rule, uint64_t address, uint64_t size)
{
	if (!is_ready(rule) || is_done(rule, address, size))
		return;
	do_due();
	const struct guard_rule_data *data = &unsnarl_guard_data->rules[rule];
	struct guard_violation violation = { .why = GUARD_EARLY,
					     .site = guard_word(data->second, guard_self),
					     .before = guard_word(data->first, 0) };
	struct guard_pace pace;

	guard_pace_start(&pace, guard_tally_limit(data->second, data->first));
	guard_tally_begin(&violation, &pace);
	while (!violation.resolved && guard_pace_step(&pace)) {
		do_due();
		violation.resolved = is_done(rule, address, size);
	}
	violation.waited_us = guard_now_us() - pace.started_us;
	guard_tally_ended();
	guard_tally(&violation);
}

void guard_rules_child(void)
{
	for (uint64_t rule = 0; rule < RULES && rule < unsnarl_guard_data->nrules; rule++) {
		uint32_t own = 0;

		for (unsigned i = 0; i < CLAIMS; i++) {
			struct claim *claim = &rules[rule].claims[i];

			if ((claim->thread & CLAIM_NUMBER) != guard_self || !guard_self)
				claim->thread = 0;
			own += claim->thread != 0;
		}
		rules[rule].claimed = own;
	}
}

void guard_rules_forget(uint64_t address, uint64_t size)
{
	for (uint64_t rule = 0; rule < RULES && rule < unsnarl_guard_data->nrules; rule++)
		for (unsigned i = 0; i < PLACES; i++) {
			uint64_t held = __atomic_load_n(&rules[rule].done[i], __ATOMIC_RELAXED);

			if (held - address < size)
				__atomic_store_n(&rules[rule].done[i], 0, __ATOMIC_RELAXED);
		}
}
