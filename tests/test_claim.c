/* The text of claims, hostile texts included, and the statistics of verdicts, held against
 * sums over all cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "diagnose/statistics.h"
#include "model/claim.h"

static uint32_t dice(uint32_t below)
{
	return (uint32_t)rand() % below;
}

static struct claim random_claim(void)
{
	struct claim claim = { .kind = CLAIM_ATOMIC + dice(CLAIM_KINDS - 1) };

	claim.use = dice(claim.kind == CLAIM_ATOMIC ? CLAIM_USES : CLAIM_FORCE + 1);

	claim.nroles = claim.kind == CLAIM_ATOMIC ? 2 + dice(2) : claim.kind == CLAIM_LOOK_AGAIN ? 1 : 2;
	claim.nsteps = claim.kind == CLAIM_ATOMIC ? claim.nroles + dice(CLAIM_STEPS - claim.nroles + 1) : 2;
	for (uint32_t i = 0; i < claim.nsteps; i++) {
		struct claim_step *step = &claim.steps[i];

		*step = (struct claim_step){ .role = i < claim.nroles ? i : dice(claim.nroles),
					     .location = dice(CLAIM_STEPS + 1),
					     .thread = dice(9),
					     .occurrence = dice(100),
					     .write = dice(2),
					     .nsites = 1 + dice(CLAIM_SITES) };
		for (uint32_t j = 0; j < step->nsites; j++)
			step->sites[j] = (uint64_t)rand() << 32 | (uint64_t)rand();
	}
	for (uint32_t i = 0; i < claim.nroles; i++) {
		claim.roles[i].reach = dice(1000);
		for (claim.roles[i].ndoors = dice(CLAIM_DOORS + 1); dice(2);)
			claim.roles[i].doors[dice(CLAIM_DOORS)] = 0;
		for (uint32_t j = 0; j < claim.roles[i].ndoors; j++)
			claim.roles[i].doors[j] = (uint64_t)rand();
		claim.roles[i].passes_doors = dice(2);
		claim.roles[i].many_locks = dice(2);
		claim.roles[i].nexits = dice(CLAIM_EXITS + 1);
		for (uint32_t j = 0; j < claim.roles[i].nexits; j++)
			claim.roles[i].exits[j] = (uint64_t)rand();
	}
	return claim;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct claim claim = random_claim(), again;
		_cleanup_free_ char *text = claim_text(&claim);

		assert_true(claim_is_sound(&claim));
		assert_null(claim_parse(text, strlen(text), "claim", &again));
		_cleanup_free_ char *back = claim_text(&again);

		assert_string_equal(text, back);
	}
}

/* Whatever comes in, what comes out is sound or an error. */
static void test_hostile(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct claim claim = random_claim(), again;
		_cleanup_free_ char *text = claim_text(&claim);
		size_t size = strlen(text);

		for (uint32_t n = 1 + dice(4); n; n--)
			text[dice((uint32_t)size)] = "0123456789 xabcdef\n#"[dice(20)];
		size -= dice(3) ? 0 : dice((uint32_t)size);
		struct error *error = claim_parse(text, size, "claim", &again);

		assert_true(error || claim_is_sound(&again));
		error_free(error);
	}
}

static double choose(unsigned n, unsigned k)
{
	double value = 1;

	for (unsigned i = 0; i < k; i++)
		value = value * (n - i) / (i + 1);
	return value;
}

static void test_fisher(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 14; n++)
		for (unsigned m = 1; m <= 14; m++)
			for (unsigned a = 0; a <= n; a++)
				for (unsigned b = 0; b <= m; b++) {
					double sum = 0;

					for (unsigned k = 0; k <= a; k++)
						if (a + b - k <= m)
							sum += choose(n, k) * choose(m, a + b - k);
					sum /= choose(n + m, a + b);
					if (fabs(sum - STATISTICS_LEVEL) > 1e-9)
						assert_int_equal(statistics_is_less(a, n, b, m),
								 a + b > 0 && sum <= STATISTICS_LEVEL);
				}
}

static void test_bounds(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 40; n++)
		for (unsigned hits = 0; hits <= n; hits++) {
			double upper = statistics_upper(hits, n), lower = statistics_lower(hits, n), sum = 0;

			assert_true(lower <= (double)hits / n && (double)hits / n <= upper);
			for (unsigned k = 0; k <= hits && hits < n; k++)
				sum += choose(n, k) * pow(upper, k) * pow(1 - upper, n - k);
			if (hits < n)
				assert_true(fabs(sum - STATISTICS_LEVEL) < 1e-6);
		}
	assert_int_equal(statistics_needed(1, 2), 7); /* 2 to the 7th is above 100 */
	assert_int_equal(statistics_needed(5, 5), 1);
	assert_true(statistics_needed(0, 5) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_fisher),
		cmocka_unit_test(test_bounds),
	};

	srand(7);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
