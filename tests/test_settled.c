/* Orders that the program keeps by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/claim_build.h"
#include "tests/few_sites.h"

enum { WRITE, READ };

/* T0 writes and makes T1 behind so many of its writes; T1 reads. Is the read to wait for the write? */
static enum claim_settled settled(size_t writes, size_t made_behind, bool read_last)
{
	struct event events[8] = { 0 };
	struct call calls[] = { { CALL_CREATE, SITE_NIL, 0, 1, made_behind } };
	struct observations run = { .events = events, .calls = calls, .ncalls = 1, .nthreads = 2 };
	struct claim claim = { .kind = CLAIM_ORDER, .nsteps = 2, .nroles = 2 };

	for (size_t i = 0; i < writes; i++) {
		if (!read_last && i == made_behind)
			events[run.nevents++] =
				(struct event){ .address = 64, .size = 8, .site = READ, .thread = 1 };
		events[run.nevents++] =
			(struct event){ .address = 64, .size = 8, .site = WRITE, .thread = 0, .write = true };
	}
	if (read_last)
		events[run.nevents++] = (struct event){ .address = 64, .size = 8, .site = READ, .thread = 1 };
	claim.steps[0] = (struct claim_step){ .sites = { READ + 1 }, .nsites = 1 };
	claim.steps[1] = (struct claim_step){ .role = 1, .sites = { WRITE + 1 }, .nsites = 1, .write = 1 };
	return claim_settled(&run, &atlas, &claim);
}

static void test_settled(void **state)
{
	(void)state;
	assert_int_equal(settled(2, 2, true), CLAIM_SETTLED); /* made behind all writes */
	assert_int_equal(settled(2, 1, true), CLAIM_OPEN);    /* the second one came first by chance */
	assert_int_equal(settled(2, 1, false), CLAIM_OPEN);   /* and here it came later */
	assert_int_equal(settled(0, 0, true), CLAIM_UNSEEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_settled) };

	add_site(SITE_WRITE);
	add_site(SITE_READ);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
