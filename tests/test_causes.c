/* The order of causes, and how the accesses of a couple are found in the run. A queue's
 * cell is read in one section of a lock; in its next section another thread raises a
 * count and writes the cell; in a second section the first thread does the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "diagnose/causes.h"
#include "tests/few_sites.h"

enum { CELL, COUNT }; /* what is accessed */
enum { LOOK, OTHER_COUNT, OTHER_CELL, READ_COUNT, WRITE_COUNT, WRITE_CELL, EVENTS };

static char cell[] = "cell", count[] = "count";
static struct event events[EVENTS];
static struct call sections[] = {
	{ CALL_ACQUIRE, SITE_NIL, 1, 8, LOOK },        { CALL_RELEASE, SITE_NIL, 1, 8, OTHER_COUNT },
	{ CALL_ACQUIRE, SITE_NIL, 2, 8, OTHER_COUNT }, { CALL_RELEASE, SITE_NIL, 2, 8, READ_COUNT },
	{ CALL_ACQUIRE, SITE_NIL, 1, 8, READ_COUNT },
};
static struct observations run = { .events = events, .nevents = EVENTS, .nthreads = 3 };
static struct evidence evidence = { .atlas = &atlas, .run = &run };

static void add_event(uint32_t site, uint32_t thread, uint64_t what, bool write)
{
	events[site] = (struct event){
		.address = 64 + 8 * what, .size = 8, .site = site, .thread = thread, .write = write
	};
	add_named_site(write ? SITE_WRITE : SITE_READ, few_name, what == CELL ? cell : count);
}

/* A group that mends whatever is tried, forced so often with so many failures. */
static void add_group(struct proposals *list, const size_t *chosen, size_t n, enum verdict verdict,
		      uint64_t forced)
{
	struct claim_parts parts = { .n = n };

	for (size_t i = 0; i < n; i++)
		parts.items[i] = claim_part_of(&run, &atlas, chosen[i]);
	size_t at = proposals_add(list, &evidence, CLAIM_ATOMIC, &parts);
	struct proof *proof = &list->items[at].proof;

	*proof = (struct proof){ .tried = true, .mended = true, .clean = true, .verdict = verdict };
	proof->near.runs = proof->any.runs = 48;
	proof->near.before = proof->near.after = 1; /* seen on both sides */
	proof->forced = (struct trials_counts){ .runs = 32, .occurred = forced, .failed = forced };
}

static const size_t couple[] = { LOOK, OTHER_COUNT, OTHER_CELL, READ_COUNT },
		    triple[] = { LOOK, OTHER_CELL, WRITE_CELL };

/* Is the triple the first of the two? */
static bool is_triple_first(enum verdict couple_verdict, uint64_t couple_forced)
{
	struct proposals list = { 0 };

	add_group(&list, couple, 4, couple_verdict, couple_forced);
	add_group(&list, triple, 3, VERDICT_PROVEN, 16);
	causes_sort(&evidence, &list);
	bool first = list.items[0].parts.n == 3;

	free(list.items);
	return first;
}

static void test_less_has_to_be_shown(void **state)
{
	(void)state;
	run.ncalls = 0;
	assert_false(is_triple_first(VERDICT_PROVEN, 16)); /* less is enough */
	assert_true(is_triple_first(VERDICT_LIKELY, 0));   /* but forced it does nothing */
}

static void test_one_section(void **state)
{
	(void)state;
	run.calls = sections;
	run.ncalls = sizeof sections / sizeof *sections;
	assert_true(is_triple_first(VERDICT_PROVEN, 16));
	assert_true(is_triple_first(VERDICT_PROVEN, 32)); /* however it is forced: one location is enough */
	run.ncalls = 0;
}

/* The same group with another access between: which of them could be forced with nobody let go? */
static void test_what_comes_between(void **state)
{
	const size_t early[] = { LOOK, OTHER_COUNT, WRITE_CELL }, late[] = { LOOK, OTHER_CELL, WRITE_CELL };

	events[OTHER_COUNT].address = events[OTHER_CELL].address;
	(void)state;
	for (unsigned hard = 0; hard < 2; hard++) {
		struct proposals list = { 0 };

		add_group(&list, late, 3, VERDICT_PROVEN, 16);
		add_group(&list, early, 3, VERDICT_PROVEN, 16);
		list.items[hard].proof.forced.given_up = 9;
		causes_sort(&evidence, &list);
		assert_int_equal(list.items[0].parts.items[1].at, hard ? OTHER_CELL : OTHER_COUNT);
		free(list.items);
	}
	events[OTHER_COUNT].address = events[READ_COUNT].address;
}

/* A proven order, of whose forced runs so many of 16 fail, beside a proven group. */
static bool is_order_first(uint64_t failed)
{
	struct proposals list = { 0 };
	struct claim_parts parts = { .items = { claim_part_of(&run, &atlas, LOOK),
						claim_part_of(&run, &atlas, OTHER_CELL) },
				     .n = 2 };

	add_group(&list, triple, 3, VERDICT_PROVEN, 16);
	struct proof proof = list.items[0].proof;
	size_t at = proposals_add(&list, &evidence, CLAIM_ORDER, &parts);

	proof.forced.failed_occurred = failed;
	list.items[at].proof = proof;
	causes_sort(&evidence, &list);
	bool first = list.items[0].claim.kind == CLAIM_ORDER;

	free(list.items);
	return first;
}

static void test_required_order(void **state)
{
	(void)state;
	assert_true(is_order_first(16));
	assert_false(is_order_first(15)); /* the read may come first: to be one step is what matters */
}

static void test_inner_orders(void **state)
{
	struct locations locations = { 0 };
	struct proposals list = { 0 };
	struct claim_parts group = {
		.items = { claim_part_of(&run, &atlas, OTHER_COUNT), claim_part_of(&run, &atlas, READ_COUNT),
			   claim_part_of(&run, &atlas, LOOK), claim_part_of(&run, &atlas, OTHER_CELL) },
		.n = 4
	};

	(void)state;
	evidence.locations = &locations;
	locations_read(&locations, &run);
	propose_inner_orders(&evidence, &group, &list);
	assert_int_equal(list.n, 3); /* one order, in each way: the count was written before it was read */
	for (size_t i = 0; i < list.n; i++) {
		assert_int_equal(list.items[i].parts.items[0].at, LOOK);
		assert_int_equal(list.items[i].parts.items[1].at, OTHER_CELL);
	}
	locations_free(&locations);
	evidence.locations = NULL;
	free(list.items);
}

/* Half of all runs fail; forced it comes about in 30 runs, of which so many do. */
static bool is_harmless(enum claim_kind kind, uint64_t failed)
{
	const struct lab lab = { .any = { .runs = 48, .failed = 24 } };
	const struct claim claim = { .kind = kind };
	const struct proof proof = { .forced = { .runs = 32, .occurred = 30, .failed_occurred = failed } };

	return lab_is_harmless(&lab, &claim, &proof);
}

static void test_harmless(void **state)
{
	struct proposals list = { 0 };

	(void)state;
	assert_true(is_harmless(CLAIM_ATOMIC, 2));
	assert_false(is_harmless(CLAIM_ATOMIC, 16)); /* as often as it is */
	assert_false(is_harmless(CLAIM_TAKEN, 0));   /* which was seen */
	add_group(&list, triple, 3, VERDICT_LIKELY, 0);
	add_group(&list, couple, 4, VERDICT_LIKELY, 0);
	list.items[0].proof.harmless = true;
	causes_sort(&evidence, &list);
	assert_int_equal(list.items[0].parts.n, 4); /* less would be enough, but does no harm */
	free(list.items);
}

static void add_access(struct finding *finding, uint32_t site)
{
	struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE, &sites[site]);

	access->thread = events[site].thread;
}

static void check_couple(const uint32_t *told, bool turned)
{
	struct finding finding = { .class = FINDING_MULTI_ATOMICITY };
	struct claim_parts parts;

	for (size_t i = 0; i < 4; i++)
		add_access(&finding, told[i]);
	assert_true(claim_parts_of_finding(&run, &atlas, &finding, &parts));
	assert_int_equal(parts.turned, turned);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(parts.items[i].at, couple[i]);
	finding_free(&finding);
}

static void test_order_of_the_run(void **state)
{
	(void)state;
	check_couple((const uint32_t[]){ LOOK, OTHER_COUNT, OTHER_CELL, READ_COUNT }, false);
	check_couple((const uint32_t[]){ LOOK, OTHER_CELL, OTHER_COUNT, READ_COUNT }, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_less_has_to_be_shown), cmocka_unit_test(test_one_section),
		cmocka_unit_test(test_what_comes_between),   cmocka_unit_test(test_required_order),
		cmocka_unit_test(test_inner_orders),         cmocka_unit_test(test_harmless),
		cmocka_unit_test(test_order_of_the_run)
	};

	add_event(LOOK, 1, CELL, false);
	add_event(OTHER_COUNT, 2, COUNT, true);
	add_event(OTHER_CELL, 2, CELL, true);
	add_event(READ_COUNT, 1, COUNT, false);
	add_event(WRITE_COUNT, 1, COUNT, true);
	add_event(WRITE_CELL, 1, CELL, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
