/* By which access of its second section a group is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "diagnose/proposals.h"
#include "tests/few_sites.h"

enum { HEAD, TAIL, COUNT, SLOT }; /* what is accessed */

static struct event event(uint32_t site, uint32_t thread, uint64_t what, bool write)
{
	return (struct event){
		.address = 64 + 8 * what, .size = 8, .site = site, .thread = thread, .write = write
	};
}

/* T1 writes the head; T2 does, and writes the tail and a count; T1 counts, reads the tail and writes it. */
static size_t tighten(struct call *calls, size_t ncalls, struct proposals *list)
{
	struct event events[] = { event(0, 1, HEAD, true),   event(0, 2, HEAD, true),
				  event(1, 2, TAIL, true),   event(2, 2, COUNT, true),
				  event(3, 1, COUNT, false), event(4, 1, COUNT, true),
				  event(5, 1, TAIL, false),  event(6, 1, TAIL, true) };
	struct observations run = {
		.events = events, .nevents = 8, .calls = calls, .ncalls = ncalls, .nthreads = 3
	};
	struct locations locations = { 0 };
	struct evidence evidence = { .atlas = &atlas, .run = &run, .locations = &locations };
	struct claim_parts wide = { .n = 4 };
	static const size_t chosen[] = { 0, 1, 2, 7 };

	locations_read(&locations, &run);
	for (size_t i = 0; i < wide.n; i++)
		wide.items[i] = claim_part_of(&run, &atlas, chosen[i]);
	size_t from = 0, at = propose_tighter(&evidence, &wide, &from, list);

	locations_free(&locations);
	return at;
}

static void test_first_read(void **state)
{
	struct call calls[] = { { CALL_ACQUIRE, SITE_NIL, 1, 8, 0 },
				{ CALL_RELEASE, SITE_NIL, 1, 8, 1 },
				{ CALL_ACQUIRE, SITE_NIL, 1, 8, 4 } };
	struct proposals list = { 0 };
	size_t at = tighten(calls, 3, &list);

	(void)state;
	assert_int_equal(at, 0);
	const struct claim_parts *parts = &list.items[0].parts;

	assert_int_equal(parts->n, 4);
	assert_int_equal(parts->items[2].at, 2); /* T2's write of the tail */
	assert_int_equal(parts->items[3].at, 6); /* not the count, which is only updated */
	free(list.items);
}

static void test_one_section(void **state)
{
	struct call calls[] = { { CALL_ACQUIRE, SITE_NIL, 1, 8, 0 } };
	struct proposals list = { 0 };

	(void)state;
	assert_true(tighten(calls, 1, &list) == SIZE_MAX);
	assert_true(tighten(calls, 0, &list) == SIZE_MAX); /* no lock at all */
	free(list.items);
}

/* Outside of any lock T1 writes the count; in its first section a slot, the head and the count; T2 reads the head and
 * writes the tail, which T1 reads in its next section, before it writes the count again. Whichever access the group was
 * proposed to begin with, it is told from the head on. */
static void test_first_section(void **state)
{
	struct event events[] = { event(2, 1, COUNT, true), event(7, 1, SLOT, true),  event(0, 1, HEAD, true),
				  event(2, 1, COUNT, true), event(3, 2, HEAD, false), event(1, 2, TAIL, true),
				  event(5, 1, TAIL, false), event(2, 1, COUNT, true) };
	struct call calls[] = { { CALL_ACQUIRE, SITE_NIL, 1, 8, 1 },
				{ CALL_RELEASE, SITE_NIL, 1, 8, 4 },
				{ CALL_ACQUIRE, SITE_NIL, 1, 8, 6 } };
	struct observations run = {
		.events = events, .nevents = 8, .calls = calls, .ncalls = 3, .nthreads = 3
	};
	struct evidence evidence = { .atlas = &atlas, .run = &run };

	static const size_t told[] = { 2, 4, 5, 6 };

	(void)state;
	for (size_t begin = 0; begin < 4; begin++) {
		struct claim_parts wide = { .items = { claim_part_of(&run, &atlas, begin),
						       claim_part_of(&run, &atlas, 5),
						       claim_part_of(&run, &atlas, 7) },
					    .n = 3 };
		struct proposals list = { 0 };
		size_t from = 0;

		assert_int_equal(propose_tighter(&evidence, &wide, &from, &list), 0);
		const struct claim_parts *parts = &list.items[0].parts;

		assert_int_equal(parts->n, 4);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(parts->items[i].at, told[i]);
		assert_true(propose_tighter(&evidence, &wide, &from, &list) == SIZE_MAX);
		free(list.items);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_first_read),
					    cmocka_unit_test(test_one_section),
					    cmocka_unit_test(test_first_section) };

	for (uint32_t i = 0; i < 8; i++)
		add_site(i == 3 || i == 5 ? SITE_READ : SITE_WRITE);
	sites[4].line = sites[3].line; /* the two halves of an update */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
