/* What isolate is asked beside a cause: its place is taken by a function that answers with
 * a finding at a line of the test's choice and counts how it was asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnosis.h"

static unsigned trails, experiments; /* times that isolate was asked for one execution, for more */
static uint32_t line;                /* of its finding */

static void add_access(struct finding *finding, uint32_t at)
{
	const struct site site = {
		.kind = SITE_WRITE, .file = "a.c", .line = at, .function = "f", .variable = "x", .through = ""
	};

	finding_add_access(&finding->accesses, FINDING_NO_SITE, &site)->thread = 1;
}

static struct error *answer(const struct diagnosis *diagnosis, const struct crash_question *question,
			    struct crash_answer *out)
{
	(void)diagnosis;
	*(question->trail_only ? &trails : &experiments) += 1;
	*out = (struct crash_answer){ .met = true };
	out->finding.class = FINDING_ORDER;
	add_access(&out->finding, line);
	return NULL;
}

/* What becomes of a cause at line 1. */
static void ask(enum verdict verdict, uint32_t found_at, enum crash_agreement expected, unsigned more,
		const char *words)
{
	const struct diagnosis_options options = { .isolate = answer, .time_s = 60 };
	struct diagnosis diagnosis = { .options = &options, .deadline = 1e9 };
	struct finding cause = { .class = FINDING_ORDER };

	trails = experiments = 0;
	line = found_at;
	add_access(&cause, 1);
	diagnosis.tally.found = true;
	diagnosis.tally.failure.outcome = OUTCOME_SIGNAL;
	*VEC_PUSH(&diagnosis.causes) = (struct cause){ .finding = &cause, .verdict = verdict };
	crash_trail_follow(&diagnosis);
	assert_int_equal(diagnosis.trail.agreement, expected);
	assert_int_equal(trails, 1);
	assert_int_equal(experiments, more);
	assert_ptr_equal(diagnosis.causes.items[0].finding, &cause);
	_cleanup_free_ char *said = isolate_agreement_words(&diagnosis.trail);

	assert_non_null(strstr(said, words));
	opinions_free(&diagnosis.opinions);
	causes_free(&diagnosis.causes);
	finding_free(&cause);
}

static void test_on_the_trail(void **state)
{
	(void)state;
	ask(VERDICT_PROVEN, 1, CRASH_SAME, 0, "lead to the same accesses.");
	ask(VERDICT_LIKELY, 1, CRASH_SAME, 0, "lead to the same accesses.");
}

static void test_elsewhere(void **state)
{
	(void)state;
	ask(VERDICT_PROVEN, 2, CRASH_ELSEWHERE, 0, "lead to none of these accesses.");
	ask(VERDICT_LIKELY, 2, CRASH_ELSEWHERE, 1, "comes to another place, but is not sure");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_on_the_trail),
					    cmocka_unit_test(test_elsewhere) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
