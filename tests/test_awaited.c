/* What a passing run says of a write that the failing run did not come to: that it was to come, unless its thread
 * went another way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/proposals.h"
#include "tests/few_sites.h"

enum { READ, WRITE, LATER };

static size_t propose(struct event *failing, size_t nfailing)
{
	static struct event passing[] = {
		{ .address = 64, .size = 8, .site = WRITE, .thread = 0, .write = true },
		{ .address = 64, .size = 8, .site = READ, .thread = 1 },
		{ .address = 128, .size = 8, .site = LATER, .thread = 0 }
	};
	struct observations run = { .events = failing, .nevents = nfailing, .nthreads = 2 };
	struct observations passed = { .events = passing, .nevents = 3, .nthreads = 2 };
	struct retold retold = { .story = { .traced = &passed } };
	struct locations locations = { 0 };
	struct proposals list = { 0 };

	locations_read(&locations, &run);
	propose_awaited(&(struct evidence){ .atlas = &atlas,
					    .run = &run,
					    .locations = &locations,
					    .passed = &retold,
					    .npassed = 1,
					    .deadline = 1e18 },
			&list);
	locations_free(&locations);
	size_t n = list.n;

	VEC_FREE(&list);
	return n;
}

static void test_awaited(void **state)
{
	struct event events[] = { { .address = 64, .size = 8, .site = READ, .thread = 1 },
				  { .address = 128, .size = 8, .site = LATER, .thread = 0 } };

	(void)state;
	assert_true(propose(events, 1) > 0);
	assert_int_equal(propose(events, 2), 0); /* its thread was past the write */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_awaited) };

	add_site(SITE_READ);
	add_site(SITE_WRITE);
	add_site(SITE_READ);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
