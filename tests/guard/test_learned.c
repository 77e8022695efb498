/* What is made of learned sets: orders that can be turned round, groups that bias leaves out, members that failed runs
 * cast doubt on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/invariant/bias.h"
#include "analysis/invariant/orders.h"
#include "analysis/invariant/training.h"

static uint32_t add_write(struct guard_set *set, uint32_t line)
{
	static char *names[] = { "", "a", "b", "c", "d" };
	const struct site site = { .kind = SITE_WRITE,
				   .size = 4,
				   .line = line,
				   .file = "f.c",
				   .function = "f",
				   .variable = names[line] };

	return guard_set_add(set, &site, (struct place_rank){ 1, 1 });
}

static void test_orders(void **unused)
{
	(void)unused;
	struct guard_set set = { 0 };
	struct orders orders = { 0 };

	for (unsigned i = 0; i < 4; i++)
		add_write(&set, i + 1);
	guard_set_allow(&set, 1, GUARD_NIL);
	guard_set_allow(&set, 2, 1); /* only after 1: an order */
	guard_set_allow(&set, 3, 4); /* each only after the other: none */
	guard_set_allow(&set, 4, 3);
	orders_find(&set, &orders);
	assert_int_equal(orders.list.n, 1);
	assert_int_equal(orders.list.items[0].first, 1);
	assert_int_equal(orders.list.items[0].second, 2);
	struct guard_set reversed;

	/* After one of two writes: an order; after a write or a read: none. */
	guard_set_allow(&set, 2, 4);
	guard_set_site(&set, 1)->kind = guard_set_site(&set, 4)->kind = SITE_READ;
	VEC_FREE(&orders.list);
	orders_find(&set, &orders);
	assert_int_equal(orders.list.n, 0);
	guard_set_site(&set, 1)->kind = guard_set_site(&set, 4)->kind = SITE_WRITE;
	guard_set_site(&set, 4)->count = guard_set_site(&set, 1)->count + 1;
	orders_find(&set, &orders);
	assert_int_equal(orders.list.n, 1);
	assert_int_equal(orders.list.items[0].first, 4);
	orders_reversed(&set, orders.list.items[0], 5, &reversed);
	assert_int_equal(reversed.sites.n, 3);
	assert_int_equal(reversed.rules.n, 2);
	for (size_t i = 0; i < reversed.rules.n; i++)
		assert_int_equal(guard_set_site(&reversed, reversed.rules.items[i].first)->line, 2);
	guard_set_free(&reversed);
	guard_set_site(&set, 2)->before.n--;
	VEC_FREE(&orders.list);
	orders_find(&set, &orders);
	orders_reversed(&set, orders.list.items[0], 5, &reversed);
	assert_int_equal(reversed.sites.n, 2);
	assert_int_equal(guard_set_site(&reversed, reversed.rules.items[0].first)->line, 2);
	guard_set_free(&reversed);
	orders_free(&orders);
	guard_set_free(&set);
}

static void test_bias(void **unused)
{
	(void)unused;
	struct guard_set set = { 0 }, left;
	struct bias bias;

	for (unsigned i = 0; i < 4; i++) {
		uint32_t number = add_write(&set, i + 1);

		guard_set_site(&set, number)->group = i < 2 ? 1 : 2;
		guard_set_site(&set, number)->count = i < 2 ? 40 : 10;
	}
	guard_set_allow(&set, 3, 4);
	bias_groups(&set, 0.3, &bias);
	assert_int_equal(bias.groups.n, 2);
	assert_true(bias.groups.items[0].left_out && !bias.groups.items[1].left_out);
	bias_apply(&set, &bias, &left);
	assert_int_equal(left.sites.n, 2);
	assert_true(guard_set_allows(&left, 1, 2));
	bias_free(&bias);
	guard_set_free(&left);
	guard_set_free(&set);
}

/* Members that failed runs had far more often; few failures, or few runs at all, cast no doubt. */
static void test_doubts(void **unused)
{
	(void)unused;
	struct training training;
	static const struct {
		unsigned passed, failures;
		struct training_member member;
		bool doubtful;
	} cases[] = {
		{ 123, 277, { .runs = 4, .failed = 270 }, true },
		{ 123, 277, { .runs = 9, .failed = 177 }, true },
		{ 123, 277, { .runs = 123, .failed = 277 }, false },
		{ 123, 277, { .runs = 40, .failed = 200 }, false },
		{ 100, 1, { .runs = 1, .failed = 1 }, true },
		{ 100, 1, { .runs = 20, .failed = 1 }, false },
		{ 5, 2, { .runs = 1, .failed = 2 }, false },
		{ 100, 0, { .runs = 1, .failed = 0 }, false },
		{ 50, 50, { .runs = 2, .failed = 0 }, false },
	};

	training_start(&training);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		training.runs.n = 0;
		for (unsigned k = 0; k < cases[i].passed; k++)
			*VEC_PUSH(&training.runs) = k;
		training.failures = cases[i].failures;
		assert_int_equal(training_doubts(&training, &cases[i].member), cases[i].doubtful);
	}
	training_free(&training);
}

/* Does a read that comes after a write or nobody expect its own thread, where another access of its own thread met it? */
static bool expects_own(bool unguarded)
{
	struct training training;
	struct guard_set set = { 0 };
	const struct place_rank rank = { 1, 1 };
	const struct site sites[] = {
		{ .kind = SITE_WRITE, .size = 4, .file = "f.c", .function = "f", .variable = "a" },
		{ .kind = SITE_READ, .size = 4, .file = "f.c", .function = "g", .variable = "a" },
		{ .kind = SITE_READ, .size = 4, .file = "f.c", .function = "h", .variable = "a" }
	};
	uint32_t places[3];

	training_start(&training);
	for (unsigned i = 0; i < 3; i++)
		places[i] = training_place(&training, &sites[i], rank);
	*VEC_PUSH(&training.runs) = 1;
	*VEC_PUSH(&training.of) = 0;
	VEC_PUSH(&training.campaigns);
	const struct training_member member = { .place = places[1], .runs = 1, .stands = true };

	*VEC_PUSH(&training.members) = member;
	*VEC_PUSH(&training.members) = member;
	training.members.items[0].before = places[0];
	training.members.items[1].before = GUARD_NIL;
	training.quiet = TRAINING_QUIET;
	guard_set_site(&training.places, places[1])->count = 1;
	if (unguarded)
		training_join(&training, places[1], places[2]);
	training_settle(&training);
	training_set(&training, &set);
	assert_int_equal(set.sites.n, 2);
	bool own = guard_set_site(&set, 1)->own || guard_set_site(&set, 2)->own;

	guard_set_free(&set);
	training_free(&training);
	return own;
}

/* What no hook sees is not on record: the thread may have been there by an access that no set has. */
static void test_own(void **unused)
{
	(void)unused;
	assert_true(expects_own(false));
	assert_false(expects_own(true));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_orders), cmocka_unit_test(test_bias),
					    cmocka_unit_test(test_doubts), cmocka_unit_test(test_own) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
