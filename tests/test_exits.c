/* Where a group is over whose last step does not come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/proposals.h"
#include "tests/few_sites.h"

enum { READ, ROUND, WRITE, LEAVE, TAKE };

/* A read, a loop, a write where something is to be written, and the way out. */
static size_t go(struct event *events, size_t n, uint32_t thread, size_t rounds, bool writes)
{
	const uint32_t end[] = { WRITE, LEAVE };

	events[n++] = (struct event){ .address = 64, .size = 8, .site = READ, .thread = thread };
	for (size_t i = 0; i < rounds; i++)
		events[n++] =
			(struct event){ .address = 128 + 8 * i, .size = 8, .site = ROUND, .thread = thread };
	for (size_t i = !writes; i < 2; i++)
		events[n++] = (struct event){
			.address = 64, .size = 8, .site = end[i], .thread = thread, .write = true
		};
	return n;
}

static void find(size_t rounds, struct claim *claim)
{
	static struct event events[4096];
	struct observations run = { .events = events, .nthreads = 3 };
	const struct evidence evidence = { .atlas = &atlas, .run = &run, .deadline = 1e18 };

	run.nevents = go(events, 0, 1, rounds, true);
	run.nevents = go(events, run.nevents, 2, rounds, false);
	run.nevents = go(events, run.nevents, 2, rounds, true); /* the next time round */
	*claim = (struct claim){ .kind = CLAIM_ATOMIC, .nsteps = 3, .nroles = 2 };
	for (uint32_t i = 0; i < 3; i++)
		claim->steps[i] = (struct claim_step){ .role = i == 1, .nsites = 1, .sites = { i ? 3 : 1 } };
	claim_find_exits(&evidence, claim);
}

static void test_way_out(void **state)
{
	struct claim claim;

	(void)state;
	for (size_t rounds = 1; rounds < 2000; rounds *= 3) {
		find(rounds, &claim);
		assert_int_equal(claim.roles[0].nexits, 1);
		assert_int_equal(claim.roles[0].exits[0], LEAVE + 1);
	}
}

/* The gaps of a loop of `between` accesses and an update: the thread is stopped before the update's read each time. */
static uint64_t gaps_of_loop(uint32_t between)
{
	static struct event events[1024];
	struct observations run = { .events = events, .nthreads = 2 };
	const struct evidence evidence = { .atlas = &atlas, .run = &run, .deadline = 1e18 };
	struct claim claim = { .kind = CLAIM_ATOMIC, .nsteps = 3, .nroles = 2 };

	events[run.nevents++] = (struct event){ .address = 64, .size = 8, .site = READ, .thread = 1 };
	for (uint32_t i = 0; i < 3 * (between + 2); i++) {
		uint32_t in = i % (between + 2);

		events[run.nevents++] = (struct event){
			.address = 64, .size = 8, .site = in < 2 ? TAKE : ROUND, .thread = 1, .write = in == 1
		};
	}
	for (uint32_t i = 0; i < 3; i++)
		claim.steps[i] =
			(struct claim_step){ .role = i == 1, .nsites = 1, .sites = { i ? TAKE + 1 : 1 } };
	return claim_find_exits(&evidence, &claim);
}

static void test_gaps_of_updates(void **state)
{
	(void)state;
	assert_true(gaps_of_loop(0) == 1 << 1); /* two accesses from read to read */
	assert_true(gaps_of_loop(1) == 1 << 2);
	assert_true(gaps_of_loop(2) == 1 << 2);
	assert_true(gaps_of_loop(3) == 1 << 3);
	assert_true(gaps_of_loop(77) == 1 << 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_way_out),
					    cmocka_unit_test(test_gaps_of_updates) };

	add_site(SITE_READ);
	add_site(SITE_READ);
	add_site(SITE_WRITE);
	add_site(SITE_WRITE);
	add_site(SITE_UPDATE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
