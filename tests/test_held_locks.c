/* Which locks the threads of a finding held, looked up in the trace of another run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "diagnose/shown_accesses.h"
#include "tests/few_sites.h"

static char look[] = "look", keep[] = "keep", drop_it[] = "drop", none[] = "";

enum { LOOK, KEEP, DROP, LOCK };

/* T2 looks under a lock, T3 drops, T2 keeps; T1 only looks. */
static struct event events[] = { { 64, 8, LOOK, 1, false },
				 { 64, 8, LOOK, 2, false },
				 { 64, 8, DROP, 3, true },
				 { 64, 8, KEEP, 2, false } };
static struct call calls[] = { { CALL_ACQUIRE, LOCK, 2, 8, 1 }, { CALL_RELEASE, LOCK, 2, 8, 2 } };

static void name_locks(struct finding *finding, uint32_t reader)
{
	static const uint32_t order[] = { LOOK, DROP, KEEP };
	struct observations run = {
		.events = events, .nevents = 4, .calls = calls, .ncalls = 2, .nthreads = 4
	};
	struct trace trace = { .run = &run, .atlas = &atlas };

	for (size_t i = 0; i < 3; i++) {
		struct finding_access *access =
			finding_add_access(&finding->accesses, order[i], &sites[order[i]]);

		access->thread = order[i] == DROP ? 3 : reader;
	}
	trace_name_accesses(&trace, finding);
}

static void look_holds_the_lock(uint32_t reader)
{
	struct finding finding = { 0 };

	name_locks(&finding, reader);
	assert_true(finding.accesses.items[0].locks_known);
	assert_int_equal(finding.accesses.items[0].locks.n, 1);
	assert_int_equal(finding.accesses.items[0].locks.items[0].line, sites[LOCK].line);
	assert_int_equal(finding.accesses.items[1].locks.n, 0);
	assert_true(finding.accesses.items[2].locks_known);
	assert_int_equal(finding.accesses.items[2].locks.n, 0);
	finding_accesses_free(&finding.accesses);
}

static void test_same_thread(void **state)
{
	(void)state;
	look_holds_the_lock(2);
}

/* In the finding's run it was T1 that looked and kept, or a thread that the traced run does not have. */
static void test_another_thread_plays(void **state)
{
	(void)state;
	look_holds_the_lock(1);
	look_holds_the_lock(5);
}

/* Nobody does what the finding says: nothing is claimed to be known. */
static void test_nobody_plays(void **state)
{
	struct finding finding = { 0 };
	struct event kept = events[3];

	(void)state;
	events[3].site = DROP;
	events[3].write = true;
	name_locks(&finding, 5);
	events[3] = kept;
	assert_false(finding.accesses.items[0].locks_known);
	assert_false(finding.accesses.items[2].locks_known);
	assert_true(finding.accesses.items[1].locks_known);
	finding_accesses_free(&finding.accesses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_thread),
		cmocka_unit_test(test_another_thread_plays),
		cmocka_unit_test(test_nobody_plays),
	};

	add_named_site(SITE_READ, look, none);
	add_named_site(SITE_READ, keep, none);
	add_named_site(SITE_WRITE, drop_it, none);
	add_named_site(SITE_SYNC, look, none);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
