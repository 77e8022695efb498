/* Emergency rules: one known fault is held down, whatever else threads do. A group of
 * accesses is one step for others: who would touch its location waits until the thread
 * that is in it has done the last one. An early access waits until the late one has been
 * done at its location. Both wait at most for the limit.
 */
#include "loom/guard/guard.h"

#define CLAIMS 64u  /* threads within a group at a time; more are not held */
#define PLACES 256u /* locations at which the late access is known to be done */
#define RULES 64u

struct claim {
	uint32_t thread; /* 0: free */
	uint64_t address;
	uint64_t since_us;
};

static struct {
	uint32_t claimed; /* how many claims there may be: 0 is the rule, and asks no more */
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

/* The thread that is in the group at `address`; 0 when there is none but ourselves. Claims older than the limit
 * are of threads that left on another way. */
static uint32_t holder(uint64_t rule, uint64_t address)
{
	bool apart = unsnarl_guard_data->rules[rule].apart;
	uint64_t now = 0;

	if (!__atomic_load_n(&rules[rule].claimed, __ATOMIC_ACQUIRE))
		return 0;
	for (unsigned i = 0; i < CLAIMS; i++) {
		struct claim *claim = &rules[rule].claims[i];
		uint32_t thread = __atomic_load_n(&claim->thread, __ATOMIC_ACQUIRE);

		if (!thread || thread == guard_self)
			continue;
		if (!apart && __atomic_load_n(&claim->address, __ATOMIC_RELAXED) != address)
			continue;
		now = now ? now : guard_now_us();
		if (now - __atomic_load_n(&claim->since_us, __ATOMIC_RELAXED) < guard_settings.limit_us)
			return thread;
	}
	return 0;
}

static void wait_for_group(uint64_t rule, uint64_t address, uint32_t site)
{
	uint32_t first = unsnarl_guard_data->rules[rule].first, thread = holder(rule, address);
	struct guard_violation violation = { .site = guard_word(site, guard_self),
					     .before = guard_word(first, thread) };
	struct guard_pace pace;

	if (!thread)
		return;
	guard_pace_start(&pace, guard_tally_limit(site, first));
	guard_tally_begin(&violation);
	while (!violation.resolved && guard_pace_step(&pace))
		violation.resolved = !holder(rule, address);
	violation.waited_us = guard_now_us() - pace.started_us;
	guard_tally_ended();
	guard_tally(&violation);
}

GUARD_HOOK void unsnarl_guard_wait(uint64_t rule, uint64_t address, uint64_t site)
{
	if (is_ready(rule) && __atomic_load_n(&rules[rule].claimed, __ATOMIC_ACQUIRE))
		wait_for_group(rule, address, (uint32_t)site);
}

/* Two that enter at once: both claim, then look; the one with the higher number steps back. */
static struct claim *claim_free(uint64_t rule, uint64_t address)
{
	struct claim *old = NULL;
	uint64_t now = guard_now_us();

	for (unsigned i = 0; i < CLAIMS; i++) {
		struct claim *claim = &rules[rule].claims[i];
		uint32_t thread = __atomic_load_n(&claim->thread, __ATOMIC_ACQUIRE);

		if (thread == guard_self) {
			old = claim;
			break;
		}
		bool stale = thread && now - __atomic_load_n(&claim->since_us, __ATOMIC_RELAXED) >
					       2 * (uint64_t)guard_settings.limit_us + 1000000;
		uint32_t expected = thread;

		if ((thread && !stale) || old)
			continue;
		/* Who takes the claim is alone in writing it: others only compare what they read. */
		if (__atomic_compare_exchange_n(&claim->thread, &expected, guard_self, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			if (!thread)
				__atomic_fetch_add(&rules[rule].claimed, 1, __ATOMIC_ACQ_REL);
			old = claim;
			break;
		}
	}
	if (old) {
		__atomic_store_n(&old->address, address, __ATOMIC_RELAXED);
		__atomic_store_n(&old->since_us, now, __ATOMIC_SEQ_CST);
	}
	return old;
}

/* Is a thread with a lower number in the group as well? */
static bool must_step_back(uint64_t rule, uint64_t address)
{
	uint32_t thread = holder(rule, address);

	return thread && thread < guard_self;
}

static void give_up(uint64_t rule)
{
	for (unsigned i = 0; i < CLAIMS; i++) {
		uint32_t self = guard_self;

		if (__atomic_compare_exchange_n(&rules[rule].claims[i].thread, &self, 0, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_fetch_sub(&rules[rule].claimed, 1, __ATOMIC_ACQ_REL);
			return;
		}
	}
}

GUARD_HOOK void unsnarl_guard_enter(uint64_t rule, uint64_t address)
{
	if (!is_ready(rule))
		return;
	uint32_t first = unsnarl_guard_data->rules[rule].first;

	wait_for_group(rule, address, first);
	claim_free(rule, address);
	for (unsigned tries = 0; tries < 8 && must_step_back(rule, address); tries++) {
		give_up(rule);
		wait_for_group(rule, address, first);
		claim_free(rule, address);
	}
}

GUARD_HOOK void unsnarl_guard_leave(uint64_t rule)
{
	if (is_ready(rule) && __atomic_load_n(&rules[rule].claimed, __ATOMIC_ACQUIRE))
		give_up(rule);
}

/* ---- order ---- */

static uint64_t *done_at(uint64_t rule, uint64_t address)
{
	return &rules[rule].done[(address >> 3 ^ address >> 11 ^ address << 4) % PLACES];
}

GUARD_HOOK void unsnarl_guard_done(uint64_t rule, uint64_t address)
{
	if (!is_ready(rule))
		return;
	uint64_t *place = done_at(rule, address), held = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (held == address)
		return;
	if (held)
		__atomic_store_n(&rules[rule].lost, 1, __ATOMIC_RELAXED);
	/* The late access stands before this in its thread; who sees the address sees what it did. */
	__atomic_store_n(place, address, __ATOMIC_RELEASE);
}

static bool is_done(uint64_t rule, uint64_t address)
{
	return __atomic_load_n(done_at(rule, address), __ATOMIC_ACQUIRE) == address ||
	       __atomic_load_n(&rules[rule].lost, __ATOMIC_RELAXED);
}

GUARD_HOOK void unsnarl_guard_await(uint64_t rule, uint64_t address)
{
	if (!is_ready(rule) || is_done(rule, address))
		return;
	const struct guard_rule_data *data = &unsnarl_guard_data->rules[rule];
	struct guard_violation violation = { .site = guard_word(data->second, guard_self) };
	struct guard_pace pace;

	guard_pace_start(&pace, guard_tally_limit(data->second, 0));
	guard_tally_begin(&violation);
	while (!violation.resolved && guard_pace_step(&pace))
		violation.resolved = is_done(rule, address);
	violation.waited_us = guard_now_us() - pace.started_us;
	guard_tally_ended();
	guard_tally(&violation);
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
