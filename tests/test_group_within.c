/* Which group lies within which, held against a search over all windows of random runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "diagnose/proposals.h"
#include "tests/few_sites.h"

#define SITES 4u
#define EVENTS 20u

static uint32_t dice(uint32_t below)
{
	return (uint32_t)rand() % below;
}

/* A group of one thread from site to site, against an access of another. */
static struct proposal group(uint32_t first, uint32_t last)
{
	struct proposal proposal = { .claim = { .kind = CLAIM_ATOMIC, .nsteps = 3, .nroles = 2 } };

	proposal.claim.steps[0] = (struct claim_step){ .sites = { sites[first].id }, .nsites = 1 };
	proposal.claim.steps[1] = (struct claim_step){ .sites = { 99 }, .nsites = 1, .role = 1 };
	proposal.claim.steps[2] = (struct claim_step){ .sites = { sites[last].id }, .nsites = 1 };
	return proposal;
}

/* A window of a thread, from an outer first access to the next outer last one, with no outer end between. */
static bool is_window(const struct event *events, size_t from, size_t to, uint32_t first, uint32_t last)
{
	if (events[from].site != first || events[to].site != last || events[from].thread != events[to].thread)
		return false;
	for (size_t i = from + 1; i < to; i++)
		if (events[i].thread == events[from].thread &&
		    (events[i].site == first || events[i].site == last))
			return false;
	return true;
}

static bool naive(const struct event *events, const uint32_t inner[2], const uint32_t outer[2])
{
	for (size_t from = 0; from < EVENTS; from++)
		for (size_t to = from + 1; to < EVENTS; to++)
			for (size_t p = from; p < to && is_window(events, from, to, outer[0], outer[1]); p++)
				for (size_t q = p + 1; q <= to; q++)
					if (events[p].thread == events[from].thread &&
					    events[q].thread == events[from].thread &&
					    events[p].site == inner[0] && events[q].site == inner[1])
						return true;
	return false;
}

static void test_random(void **state)
{
	unsigned within = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct event events[EVENTS] = { 0 };
		struct observations run = { .events = events, .nevents = EVENTS };
		struct retold passed = { .story.traced = &run };
		struct evidence evidence = { .atlas = &atlas };
		const uint32_t inner[2] = { dice(SITES), dice(SITES) },
			       outer[2] = { dice(SITES), dice(SITES) };
		const struct proposal one = group(inner[0], inner[1]), other = group(outer[0], outer[1]);
		bool same = inner[0] == outer[0] && inner[1] == outer[1];

		for (size_t i = 0; i < EVENTS; i++)
			events[i] = (struct event){ .site = dice(SITES), .thread = dice(2) };
		if (round % 2) { /* in a passing run alone: the failing one did not get that far */
			evidence.passed = &passed;
			evidence.npassed = 1;
		} else {
			evidence.run = &run;
		}
		bool expected = !same && naive(events, inner, outer);

		assert_int_equal(group_is_within(&evidence, &one, &other), expected);
		within += expected;
	}
	assert_true(within > 500);
}

/* Orders are no groups. */
static void test_orders(void **state)
{
	struct event events[] = { { .site = 0 }, { .site = 1 }, { .site = 2 }, { .site = 3 } };
	struct observations run = { .events = events, .nevents = 4 };
	const struct evidence evidence = { .atlas = &atlas, .run = &run };
	struct proposal inner = group(1, 2), outer = group(0, 3);

	(void)state;
	assert_true(group_is_within(&evidence, &inner, &outer));
	assert_false(group_is_within(&evidence, &outer, &inner));
	inner.claim.kind = CLAIM_ORDER;
	assert_false(group_is_within(&evidence, &inner, &outer));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_orders) };

	for (uint32_t i = 0; i < SITES; i++)
		add_site(SITE_WRITE);
	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
