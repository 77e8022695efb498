/* Writes that leave their memory: walks and copies, in time and not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/overflow.h"

static struct site sites[4] = { { .line = 1, .file = "a.c" },
				{ .line = 1, .file = "a.c" },
				{ .line = 2, .file = "a.c" },
				{ .line = 3, .file = "a.c" } };
static const struct site *numbered[4] = { &sites[0], &sites[1], &sites[2], &sites[3] };
static const struct atlas atlas = { .numbered = numbered, .nnumbered = 4 };

static size_t find(struct event *events, size_t nevents, struct block *blocks, size_t nblocks)
{
	const struct observations run = {
		.events = events, .nevents = nevents, .blocks = blocks, .nblocks = nblocks
	};

	return overflow_find(&run, &atlas);
}

static struct event write_at(uint64_t address, uint64_t size, uint32_t site, uint32_t thread)
{
	return (struct event){
		.address = address, .size = size, .site = site, .thread = thread, .write = true
	};
}

static void test_walk(void **state)
{
	struct block block = { .address = 100, .size = 4 };
	struct event events[] = { write_at(100, 1, 0, 1), write_at(101, 1, 1, 1), write_at(102, 1, 0, 1),
				  write_at(103, 1, 1, 1), write_at(104, 1, 0, 1), write_at(105, 1, 1, 1) };

	(void)state;
	assert_int_equal(find(events, 6, &block, 1), 4);
	assert_int_equal(find(events, 4, &block, 1), 4); /* up to the end is no harm: none */
	events[4].thread = 2;                            /* another thread writes to what is its own */
	assert_int_equal(find(events, 5, &block, 1), 5);
	events[4] = write_at(104, 1, 2, 1); /* another line */
	assert_int_equal(find(events, 5, &block, 1), 5);
	events[4] = write_at(104, 1, 0, 1);
	events[4].write = false;
	assert_int_equal(find(events, 5, &block, 1), 5);
	/* The block was not there yet, or is another one by now. */
	events[4] = write_at(104, 1, 0, 1);
	block.before = 6;
	assert_int_equal(find(events, 6, &block, 1), 6);
	struct block two[] = { { .address = 100, .size = 4 }, { .address = 100, .size = 8, .before = 2 } };

	assert_int_equal(find(events, 6, two, 2), 6);
}

static void test_copy(void **state)
{
	struct block block = { .address = 100, .size = 40 };
	struct event events[] = { write_at(100, 40, 0, 1), write_at(90, 100, 0, 1), write_at(110, 31, 2, 1) };

	(void)state;
	assert_int_equal(find(events, 3, &block, 1), 2);
	assert_int_equal(find(events, 2, &block, 1), 2);
	assert_int_equal(find(events, 0, &block, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_walk), cmocka_unit_test(test_copy) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
