/* The reference observer on sequences short enough to be worked out by hand: it
 * is the measure for the runtime, so this is where it is itself measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/run.h"
#include "tests/reference.h"

/* Sites are numbered by the place in the sequence, from 1, orders likewise. */
#define READ(thread_, address_, size_) \
	{ .action = AREA_READ, .thread = thread_, .address = address_, .size = size_ }
#define WRITE(thread_, address_, size_) \
	{ .action = AREA_WRITE, .thread = thread_, .address = address_, .size = size_ }
#define FORGET(address_, size_) { .action = AREA_FORGET, .address = address_, .size = size_ }

static struct reference_result observe_as(struct area_options options, struct area_event *events, size_t n)
{
	struct reference_result result;

	for (size_t i = 0; i < n; i++) {
		if (!events[i].site)
			events[i].site = (uint32_t)i + 1;
		events[i].order = i + 1;
	}
	reference_observe(&options, events, n, &result);
	return result;
}

#define OBSERVE(options, ...)                                     \
	observe_as(options, (struct area_event[]){ __VA_ARGS__ }, \
		   sizeof((struct area_event[]){ __VA_ARGS__ }) / sizeof(struct area_event))
#define EXACT(...) OBSERVE(((struct area_options){ .context = 5 }), __VA_ARGS__)
#define EMPTY 1u
#define AFTER(context, event) ((context) << 2 | (event))
#define BY_LINE(...) OBSERVE(((struct area_options){ .context = 5, .line = 1 }), __VA_ARGS__)

static void assert_pair(const struct reference_result *result, size_t i, enum pair_kind kind, uint32_t head,
			uint32_t tail, uint64_t address)
{
	assert_true(i < result->pairs.n);
	const struct area_pair *pair = &result->pairs.items[i].pair;

	assert_int_equal(pair->kind, kind);
	assert_int_equal(pair->head_site, head);
	assert_int_equal(pair->tail_site, tail);
	assert_int_equal(pair->address, address);
	assert_int_equal(pair->head_order, head);
	assert_int_equal(pair->tail_order, tail);
}

static void assert_predecessor(const struct reference_result *result, size_t i, uint32_t site,
			       uint32_t before)
{
	assert_true(i < result->predecessors.n);
	assert_int_equal(result->predecessors.items[i].site, site);
	assert_int_equal(result->predecessors.items[i].before, before);
}

static void assert_edge(const struct reference_result *result, size_t i, uint32_t source,
			uint32_t source_context, uint32_t sink, uint32_t sink_context)
{
	assert_true(i < result->edges.n);
	const struct area_edge *edge = &result->edges.items[i].edge;

	assert_int_equal(edge->source, source);
	assert_int_equal(edge->source_context, source_context);
	assert_int_equal(edge->sink, sink);
	assert_int_equal(edge->sink_context, sink_context);
}

static void every_reader_since_the_write_makes_a_pair(void **state)
{
	(void)state;
	struct reference_result result =
		EXACT(WRITE(0, 64, 8), READ(1, 64, 8), READ(2, 64, 8), READ(1, 64, 8), WRITE(0, 64, 8));

	assert_int_equal(result.pairs.n, 5);
	assert_pair(&result, 0, PAIR_WRITE_READ, 1, 2, 64);
	assert_pair(&result, 1, PAIR_WRITE_READ, 1, 3, 64);
	assert_pair(&result, 2, PAIR_WRITE_READ, 1, 4, 64);
	assert_pair(&result, 3, PAIR_READ_WRITE, 4, 5, 64); /* the last read of thread 1 */
	assert_pair(&result, 4, PAIR_READ_WRITE, 3, 5, 64);
	reference_free(&result);
}

static void a_write_ends_what_was_read_before(void **state)
{
	(void)state;
	struct reference_result result = EXACT(READ(1, 64, 4), WRITE(2, 64, 4), WRITE(0, 64, 4));

	assert_int_equal(result.pairs.n, 2);
	assert_pair(&result, 0, PAIR_READ_WRITE, 1, 2, 64);
	assert_pair(&result, 1, PAIR_WRITE_WRITE, 2, 3, 64);
	reference_free(&result);
}

static void a_predecessor_lies_behind_own_accesses(void **state)
{
	(void)state;
	struct reference_result result =
		EXACT(READ(1, 64, 4), READ(2, 64, 4), WRITE(2, 64, 4), READ(2, 64, 4));

	assert_predecessor(&result, 0, 1, 0);
	assert_predecessor(&result, 1, 2, 1);
	assert_predecessor(&result, 2, 3, 1);
	assert_predecessor(&result, 3, 4, 1);
	reference_free(&result);
}

static void neighbours_are_apart(void **state)
{
	(void)state;
	/* Two ints, then a byte in the second: the whole word meets both histories. */
	struct reference_result result =
		EXACT(WRITE(0, 64, 4), WRITE(1, 68, 4), WRITE(2, 71, 1), READ(3, 64, 8));

	assert_int_equal(result.pairs.n, 4);
	assert_pair(&result, 0, PAIR_WRITE_WRITE, 2, 3, 71);
	assert_pair(&result, 1, PAIR_WRITE_READ, 1, 4, 64);
	assert_pair(&result, 2, PAIR_WRITE_READ, 2, 4, 68);
	assert_pair(&result, 3, PAIR_WRITE_READ, 3, 4, 71);
	reference_free(&result);
}

static void every_byte_keeps_its_history(void **state)
{
	(void)state;
	struct reference_result result =
		EXACT(WRITE(0, 64, 8), WRITE(1, 66, 4), READ(2, 64, 2), READ(2, 70, 1));

	assert_int_equal(result.pairs.n, 3);
	assert_pair(&result, 0, PAIR_WRITE_WRITE, 1, 2, 66);
	assert_pair(&result, 1, PAIR_WRITE_READ, 1, 3, 64);
	assert_pair(&result, 2, PAIR_WRITE_READ, 1, 4, 70);
	reference_free(&result);
}

static void what_is_forgotten_teaches_nothing(void **state)
{
	(void)state;
	struct reference_result result =
		EXACT(WRITE(0, 64, 8), WRITE(0, 72, 8), FORGET(64, 12), READ(1, 64, 8), READ(1, 72, 8));

	assert_int_equal(result.pairs.n, 1);
	assert_pair(&result, 0, PAIR_WRITE_READ, 2, 5, 76);
	reference_free(&result);
}

static void contexts_grow_at_communication(void **state)
{
	(void)state;
	/* Thread 1 reads twice: one communication. Then thread 0 writes over what it has read: another. */
	struct reference_result result =
		EXACT(WRITE(0, 64, 8), READ(1, 64, 8), READ(1, 64, 8), WRITE(0, 64, 8), READ(1, 64, 8));

	assert_int_equal(result.edges.n, 3);
	assert_edge(&result, 0, 1, EMPTY, 2, EMPTY);
	assert_edge(&result, 1, 1, EMPTY, 3, AFTER(EMPTY, EVENT_LOCAL_READ));
	assert_edge(&result, 2, 4, AFTER(EMPTY, EVENT_REMOTE_READ), 5,
		    AFTER(AFTER(EMPTY, EVENT_LOCAL_READ), EVENT_REMOTE_WRITE));
	reference_free(&result);
}

static void a_write_meets_all_who_have_read(void **state)
{
	(void)state;
	/* Nobody wrote 64; threads 1 and 2 have read it, 1 twice. The writer's own event is one. */
	struct reference_result result =
		EXACT(READ(1, 64, 8), READ(2, 64, 8), READ(1, 64, 8), WRITE(0, 64, 8), WRITE(0, 72, 8),
		      READ(1, 72, 8), READ(2, 72, 8));
	uint32_t told = AFTER(EMPTY, EVENT_REMOTE_WRITE);

	assert_int_equal(result.edges.n, 5);
	assert_edge(&result, 2, 0, 0, 3,
		    EMPTY); /* not the first read there, but others have been there too */
	assert_edge(&result, 3, 5, AFTER(EMPTY, EVENT_LOCAL_WRITE), 6, told);
	assert_edge(&result, 4, 5, AFTER(EMPTY, EVENT_LOCAL_WRITE), 7, told);
	reference_free(&result);
}

static void a_granule_communicates_once_with_each_writer(void **state)
{
	(void)state;
	/* Thread 2 writes over two bytes of thread 1 and two of thread 0, then over a granule more of
	 * thread 0. */
	struct reference_result result =
		EXACT(WRITE(1, 64, 1), WRITE(0, 65, 2), WRITE(1, 67, 1), WRITE(0, 72, 4), WRITE(2, 64, 12),
		      WRITE(0, 80, 8), WRITE(1, 88, 8), WRITE(3, 80, 16));
	uint32_t once = AFTER(EMPTY, EVENT_REMOTE_WRITE), local = AFTER(EMPTY, EVENT_LOCAL_WRITE);

	assert_int_equal(result.edges.n, 6);
	assert_edge(&result, 0, 1, EMPTY, 5, EMPTY);
	assert_edge(&result, 1, 2, EMPTY, 5, EMPTY);
	assert_edge(&result, 2, 3, EMPTY, 5, EMPTY);
	assert_edge(&result, 3, 4, EMPTY, 5, local);
	assert_edge(&result, 4, 6, AFTER(once, EVENT_REMOTE_WRITE), 8, EMPTY);
	assert_edge(&result, 5, 7, once, 8, local);
	reference_free(&result);
}

static void one_byte_makes_a_granule_notice(void **state)
{
	(void)state;
	/* Thread 0 owns bytes 64 to 67 and nobody 68; the whole of event 4 has the mail of event 3. */
	struct reference_result result = EXACT(WRITE(0, 64, 4), WRITE(0, 128, 8), READ(1, 128, 8),
					       WRITE(0, 64, 5), READ(2, 64, 4), READ(2, 68, 1));

	assert_int_equal(result.edges.n, 3);
	assert_edge(&result, 0, 2, EMPTY, 3, EMPTY);
	assert_edge(&result, 1, 4, AFTER(EMPTY, EVENT_REMOTE_READ), 5, EMPTY);
	assert_edge(&result, 2, 4, AFTER(EMPTY, EVENT_REMOTE_READ), 6, AFTER(EMPTY, EVENT_LOCAL_READ));
	reference_free(&result);
}

static void mail_is_taken_in_at_the_next_access(void **state)
{
	(void)state;
	/* Thread 0 has 128 to itself from event 3 on; its write there comes after the mail of event 4 all the same. */
	struct reference_result result =
		EXACT(WRITE(0, 64, 8), READ(0, 136, 8), WRITE(0, 128, 8), WRITE(1, 64, 8), WRITE(0, 128, 8),
		      READ(1, 128, 8), WRITE(0, 144, 8), READ(1, 144, 8));

	assert_int_equal(result.edges.n, 4);
	assert_edge(&result, 0, 0, 0, 2, EMPTY); /* nobody wrote it */
	assert_edge(&result, 1, 1, EMPTY, 4, EMPTY);
	assert_edge(&result, 2, 5, AFTER(EMPTY, EVENT_REMOTE_WRITE), 6, AFTER(EMPTY, EVENT_LOCAL_WRITE));
	assert_edge(&result, 3, 7, AFTER(AFTER(EMPTY, EVENT_REMOTE_WRITE), EVENT_REMOTE_READ), 8,
		    AFTER(AFTER(EMPTY, EVENT_LOCAL_WRITE), EVENT_LOCAL_READ));
	reference_free(&result);
}

static void lines_join_neighbours(void **state)
{
	(void)state;
	struct reference_result exact = EXACT(WRITE(0, 64, 8), WRITE(1, 120, 8), READ(2, 128, 8));
	struct reference_result by_line = BY_LINE(WRITE(0, 64, 8), WRITE(1, 120, 8), READ(2, 128, 8));

	assert_int_equal(exact.edges.n, 1);
	assert_int_equal(by_line.edges.n, 2);
	assert_edge(&by_line, 0, 1, EMPTY, 2, EMPTY);
	assert_edge(&by_line, 1, 0, 0, 3, EMPTY);
	reference_free(&exact);
	reference_free(&by_line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reader_since_the_write_makes_a_pair),
		cmocka_unit_test(a_write_ends_what_was_read_before),
		cmocka_unit_test(a_predecessor_lies_behind_own_accesses),
		cmocka_unit_test(neighbours_are_apart),
		cmocka_unit_test(every_byte_keeps_its_history),
		cmocka_unit_test(what_is_forgotten_teaches_nothing),
		cmocka_unit_test(contexts_grow_at_communication),
		cmocka_unit_test(a_write_meets_all_who_have_read),
		cmocka_unit_test(a_granule_communicates_once_with_each_writer),
		cmocka_unit_test(one_byte_makes_a_granule_notice),
		cmocka_unit_test(mail_is_taken_in_at_the_next_access),
		cmocka_unit_test(lines_join_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
