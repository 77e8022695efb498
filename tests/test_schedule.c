/* Schedules as text and as blobs: what is written is read back just so, and bytes
 * of any origin are refused with a sentence or read, never believed blindly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/schedule.h"
#include "model/site.h"
#include "store/codec.h"

static uint64_t state = 88172645463325252u;

static uint64_t below(uint64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % limit;
}

static void random_schedule(struct schedule *out)
{
	*out = (struct schedule){
		.program = memory_string(below(2) ? "/usr/bin/a b\\c\n\td" : "x"),
		.arguments = memory_alloc(3 * sizeof *out->arguments),
		.build = below(UINT64_MAX),
		.policy = (enum schedule_policy)below(SCHEDULE_POLICIES),
		.depth = (uint32_t)below(9),
		.seed = below(UINT64_MAX),
		.points = below(1000000),
		.outcome = (enum outcome)(1 + below(OUTCOME_BEYOND - 1)),
		.code = (int)below(200),
		.output = below(UINT64_MAX),
		.nturns = below(40),
		.nwaits = below(4),
		.everywhere = below(4) == 0,
	};
	out->nsites = out->everywhere ? 0 : below(30);
	out->sites = memory_alloc((out->nsites + 1) * sizeof *out->sites);
	for (size_t i = 0; i < out->nsites; i++)
		out->sites[i] = (i ? out->sites[i - 1] : 0) + 1 + below(UINT64_MAX / 40);
	for (size_t i = 0; i < below(3); i++)
		out->arguments[i] = memory_string(below(2) ? "" : " two words\x01");
	out->turns = memory_alloc((out->nturns + 1) * sizeof *out->turns);
	for (size_t i = 0; i < out->nturns; i++) {
		out->turns[i].thread = (uint32_t)below(5);
		out->turns[i].wake = below(8) == 0;
		if (out->turns[i].wake)
			continue;
		out->turns[i].stop = (enum schedule_stop)below(5);
		out->turns[i].points = below(below(2) ? 10 : UINT64_MAX);
		out->turns[i].site = below(4) ? below(7) * 0x9e3779b97f4a7c15u : 0;
	}
	out->waits = memory_alloc((out->nwaits + 1) * sizeof *out->waits);
	for (size_t i = 0; i < out->nwaits; i++)
		out->waits[i] = (struct schedule_wait){ .thread = (uint32_t)below(5),
							.kind = (enum schedule_waiting)below(WAITING_KINDS),
							.site = below(UINT64_MAX),
							.object = (uint32_t)below(100),
							.holder = below(2) ? THREAD_NONE : 3,
							.holder_site = below(UINT64_MAX),
							.missed_site = below(UINT64_MAX),
							.missed_thread = (uint32_t)below(5),
							.fork_site = i % 3 ? 0 : 1 + below(100),
							.taken_site = i % 2 ? 1 + below(UINT64_MAX - 1) : 0,
							.taken_thread = i % 2 ? (uint32_t)below(5) : 0,
							.taker_site = i % 2 ? below(UINT64_MAX) : 0,
							.taker_thread = i % 2 ? (uint32_t)below(5) : 0 };
	if (below(2))
		out->fault =
			(struct schedule_fault){ .kind = (enum memory_fault)(1 + below(MEMORY_FAULTS - 1)),
						 .thread = (uint32_t)below(5),
						 .write = below(2),
						 .site = below(UINT64_MAX),
						 .offset = (int64_t)below(100) - 50,
						 .size = below(100),
						 .block = below(1000),
						 .born_site = below(UINT64_MAX),
						 .freed_site = below(UINT64_MAX),
						 .born_thread = (uint32_t)below(5),
						 .freed_thread = below(2) ? THREAD_NONE : 2 };
}

static const struct site *find(void *context, uint64_t id)
{
	(void)context;
	static const struct site site = {
		.line = 12, .function = "f\n g", .file = "/home/x/a b.c", .variable = "v"
	};

	return id & 1 ? &site : NULL;
}

static char *text_of(const struct schedule *schedule, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	schedule_write(out, schedule, find, NULL);
	fclose(out);
	return text;
}

static void assert_same(const struct schedule *a, const struct schedule *b)
{
	assert_int_equal(a->nturns, b->nturns);
	assert_true(schedule_hash(a->turns, a->nturns) == schedule_hash(b->turns, b->nturns));
	for (size_t i = 0; i < a->nturns; i++) {
		assert_int_equal(a->turns[i].thread, b->turns[i].thread);
		assert_int_equal(a->turns[i].wake, b->turns[i].wake);
		assert_int_equal(a->turns[i].stop, b->turns[i].stop);
		assert_true(a->turns[i].points == b->turns[i].points && a->turns[i].site == b->turns[i].site);
	}
	assert_int_equal(a->everywhere, b->everywhere);
	assert_int_equal(a->nsites, b->nsites);
	for (size_t i = 0; i < a->nsites; i++)
		assert_true(a->sites[i] == b->sites[i]);
	assert_int_equal(a->nwaits, b->nwaits);
	for (size_t i = 0; i < a->nwaits; i++) {
		assert_int_equal(a->waits[i].kind, b->waits[i].kind);
		assert_int_equal(a->waits[i].holder, b->waits[i].holder);
		assert_true(a->waits[i].site == b->waits[i].site &&
			    a->waits[i].holder_site == b->waits[i].holder_site &&
			    a->waits[i].missed_site == b->waits[i].missed_site &&
			    a->waits[i].missed_thread == b->waits[i].missed_thread &&
			    a->waits[i].fork_site == b->waits[i].fork_site &&
			    a->waits[i].taken_site == b->waits[i].taken_site &&
			    a->waits[i].taken_thread == b->waits[i].taken_thread &&
			    a->waits[i].taker_site == b->waits[i].taker_site &&
			    a->waits[i].taker_thread == b->waits[i].taker_thread &&
			    a->waits[i].object == b->waits[i].object);
	}
	assert_true(a->points == b->points && a->output == b->output);
	assert_memory_equal(&a->fault, &b->fault, sizeof a->fault);
}

static void test_text(void **unused)
{
	(void)unused;
	for (int i = 0; i < 2000; i++) {
		_cleanup_(schedule_free) struct schedule made, read;
		size_t size;

		random_schedule(&made);
		_cleanup_free_ char *text = text_of(&made, &size);

		assert_null(schedule_parse(text, size, "t", &read));
		assert_same(&made, &read);
		assert_string_equal(made.program, read.program);
		for (size_t k = 0; made.arguments[k] || read.arguments[k]; k++)
			assert_string_equal(made.arguments[k], read.arguments[k]);
		assert_true(made.build == read.build && made.seed == read.seed && made.depth == read.depth);
		assert_int_equal(made.policy, read.policy);
		assert_int_equal(made.outcome, read.outcome);
		assert_int_equal(made.code, read.code);
	}
}

static void assert_refused(const char *text, const char *words)
{
	struct schedule read;
	_cleanup_(error_freep) struct error *error = schedule_parse(text, strlen(text), "a.schedule", &read);

	assert_non_null(error);
	if (!strstr(error->message, words))
		fail_msg("\"%s\" does not say \"%s\"", error->message, words);
}

static void test_refusals(void **unused)
{
	(void)unused;
	assert_refused("", "not a schedule");
	assert_refused("hello\n", "not a schedule");
	assert_refused("unsnarl schedule 3\n", "version 3");
	assert_refused("unsnarl schedule 2\nsites 2\n0x5\n0x5\nend\n", "line 4: not a site");
	assert_refused("unsnarl schedule 2\nsites 2\n0x5\n", "line 4: it ends before its last site");
	assert_refused("unsnarl schedule x\n", "line 1");
	assert_refused("unsnarl schedule 1\nseed 1\n", "line 3: it ends before");
	assert_refused("unsnarl schedule 1\n\n# note\nfoo 1\n", "line 4");
	assert_refused("unsnarl schedule 1\nturns 99999999999\n", "line 2");
	assert_refused("unsnarl schedule 1\nturns 2\n0 1 blocked 0x0\n", "line 4");
	assert_refused("unsnarl schedule 1\nturns 1\n0 1 sleeping 0x0\nend\n", "line 3");
	assert_refused("unsnarl schedule 1\nturns 1\n-1 1 blocked 0x0\nend\n", "line 3");
	assert_refused("unsnarl schedule 1\nhash 0x1\nturns 1\n0 1 blocked 0x0\nend\n", "hash");
	assert_refused("unsnarl schedule 1\nprogram a\\x0\nend\n", "line 2");
	assert_refused("unsnarl schedule 1\nended exit -1\nend\n", "line 2");
}

/* In those of version 1, and in blobs that end before the sites, every access is a point. */
static void test_older(void **unused)
{
	static const char text[] = "unsnarl schedule 1\nhash 0x0\nend\n";
	_cleanup_(schedule_free) struct schedule read = { 0 }, made = { .everywhere = false };
	_cleanup_(bytes_free) struct bytes bytes = { 0 };

	(void)unused;
	assert_null(schedule_parse(text, strlen(text), "t", &read));
	assert_true(read.everywhere);
	schedule_free(&read);
	codec_put_schedule(&bytes, &made);
	assert_true(codec_get_schedule(bytes.data, bytes.n - 2, &read));
	assert_true(read.everywhere);
}

static void mutate(char *bytes, size_t *size)
{
	for (uint64_t n = 1 + below(4); n && *size; n--) {
		size_t at = below(*size);

		switch (below(4)) {
		case 0:
			bytes[at] = (char)below(256);
			break;
		case 1:
			bytes[at] = "0123456789 \n-x"[below(14)];
			break;
		case 2:
			*size = at;
			break;
		default:
			memmove(bytes + at, bytes + at + 1, *size - at - 1);
			--*size;
		}
	}
}

/* Nothing but a schedule or an error comes of any text. */
static void test_mutations(void **unused)
{
	int refused = 0;

	(void)unused;
	for (int i = 0; i < 20000; i++) {
		_cleanup_(schedule_free) struct schedule made, read = { 0 };
		size_t size;

		random_schedule(&made);
		_cleanup_free_ char *text = text_of(&made, &size);

		mutate(text, &size);
		struct error *error = schedule_parse(text, size, "t", &read);

		refused += error != NULL;
		if (!error)
			assert_true(read.nturns == 0 || read.turns);
		error_free(error);
	}
	assert_true(refused > 10000);
}

static void test_blobs(void **unused)
{
	(void)unused;
	for (int i = 0; i < 5000; i++) {
		_cleanup_(schedule_free) struct schedule made, read = { 0 };
		_cleanup_(bytes_free) struct bytes bytes = { 0 };

		random_schedule(&made);
		if (below(2))
			made.uncontrolled = memory_string("fork\nread");
		codec_put_schedule(&bytes, &made);
		assert_true(codec_get_schedule(bytes.data, bytes.n, &read));
		assert_same(&made, &read);
		assert_true(!made.uncontrolled == !read.uncontrolled);
		schedule_free(&read);
		/* Damaged ones are read or refused, never more. */
		mutate((char *)bytes.data, &bytes.n);
		codec_get_schedule(bytes.data, bytes.n, &read);
	}
}

static void test_counts(void **unused)
{
	const struct schedule_turn turns[] = {
		{ .thread = 0, .stop = STOP_PREEMPTED, .points = 1 },
		{ .thread = 1, .stop = STOP_BLOCKED },
		{ .thread = 1, .wake = true },
		{ .thread = 1, .stop = STOP_PREEMPTED },
		{ .thread = 2, .stop = STOP_ENDED },
		{ .thread = 0, .stop = STOP_LAST },
	};

	(void)unused;
	assert_int_equal(schedule_preemptions(turns, 6), 2);
	assert_int_equal(schedule_switches(turns, 6), 3);
	assert_true(schedule_hash(turns, 6) != schedule_hash(turns, 5));
	assert_true(schedule_hash(turns, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),  cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_older), cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_blobs), cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
