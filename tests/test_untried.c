/* In which order findings are told for which no experiment speaks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "diagnose/causes.h"
#include "tests/few_sites.h"

/* T1 and T2 meet at sites 2 and 3; what T1 does at site 4 main reads at site 5, when T1 has ended. Nobody comes to
 * sites 0 and 1. */
static struct event events[] = {
	{ 64, 8, 2, 1, false }, { 64, 8, 3, 2, true }, { 80, 8, 4, 1, true }, { 80, 8, 5, 0, false }
};
static struct call calls[] = { { CALL_JOIN, SITE_NIL, 0, 1, 3 } };

static void add_order(struct findings *findings, uint32_t first, uint32_t one, uint32_t second,
		      uint32_t other)
{
	struct finding *finding = VEC_PUSH(findings);

	*finding = (struct finding){ .class = FINDING_ORDER };
	finding_add_access(&finding->accesses, first, &sites[first])->thread = one;
	finding_add_access(&finding->accesses, second, &sites[second])->thread = other;
}

static void told_first(bool dropped, uint32_t expected)
{
	struct observations run = {
		.events = events, .nevents = 4, .calls = calls, .ncalls = 1, .nthreads = 3, .dropped = dropped
	};
	struct evidence evidence = { .run = &run, .atlas = &atlas };
	struct opinion opinion = { 0 };
	struct opinions opinions = { .items = &opinion, .n = 1 };
	struct proposals proposals = { 0 };
	struct causes causes = { 0 };
	struct findings *findings = &opinion.findings;

	add_order(findings, 4, 1, 5, 0);
	add_order(findings, 0, 1, 1, 2);
	add_order(findings, 2, 1, 3, 2);
	causes_order(&evidence, &opinions, &proposals, false, &causes);
	assert_int_equal(causes.n, 3);
	assert_int_equal(causes.items[0].finding->accesses.items[0].line, sites[expected].line);
	assert_int_equal(causes.items[2].finding->accesses.items[0].line, sites[4].line);
	findings_free(findings);
	free(causes.items);
	free(causes.told.items);
}

/* What the failing run has comes first, what joins fix last. */
static void test_absent(void **state)
{
	(void)state;
	told_first(false, 2);
}

/* Where events were lost nothing is known to be absent. */
static void test_dropped(void **state)
{
	(void)state;
	told_first(true, 0);
}

/* A signal that came before, and a lock that is kept: both were seen. Keeping the signal ends the failures that are
 * followed, and others are left. */
static void test_doubted(void **state)
{
	struct observations run = { .events = events, .nevents = 4, .nthreads = 3 };
	struct evidence evidence = { .run = &run, .atlas = &atlas };
	struct opinion opinion = { 0 };
	struct opinions opinions = { .items = &opinion, .n = 1 };

	(void)state;
	*VEC_PUSH(&opinion.findings) = (struct finding){ .class = FINDING_LOST_WAKEUP, .score = 1 };
	*VEC_PUSH(&opinion.findings) = (struct finding){ .class = FINDING_DEADLOCK, .score = 1 };
	const struct finding *signal = &opinion.findings.items[0], *lock = &opinion.findings.items[1];

	for (size_t doubted = 0; doubted < 2; doubted++) {
		struct proposal kept = { .claim.kind = CLAIM_MISSED,
					 .told = signal,
					 .proof = {
						 .tried = true, .clean = true, .verdict = VERDICT_GUESS } };
		struct proposals proposals = { .items = &kept, .n = doubted, .room = 1 };
		struct causes causes = { 0 };

		causes_order(&evidence, &opinions, &proposals, false, &causes);
		assert_int_equal(causes.n, 2);
		assert_ptr_equal(causes.items[0].finding, doubted ? lock : signal);
		free(causes.items);
		free(causes.told.items);
	}
	findings_free(&opinion.findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_absent), cmocka_unit_test(test_dropped),
					    cmocka_unit_test(test_doubted) };

	for (uint32_t i = 0; i < 6; i++)
		add_site(i == 0 || i == 3 || i == 4 ? SITE_WRITE : SITE_READ);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
