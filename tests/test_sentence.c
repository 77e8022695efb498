/* Words and picture tell the same: for every pattern (two accesses, the four triples, the eight
 * couples, deadlocks, lost wake-ups, memory faults) the threads and verbs of the sentence come
 * in the order of the accesses, the picture has every access in its thread's lane, and no line
 * is longer than 80 columns. And what locks tell about the fix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice.h"
#include "report/finding_view.h"
#include "report/lock_words.h"
#include "report/passing_words.h"
#include "report/proof_words.h"
#include "report/sentence.h"

static struct finding finding;
static struct excerpts excerpts;

static void start(enum finding_class class, unsigned scenario)
{
	finding_free(&finding);
	finding.class = class;
	finding.scenario = scenario;
}

static struct finding_access *add(uint32_t thread, char kind, const char *variable)
{
	const struct site site = { .kind = kind == 'R' ? SITE_READ : SITE_WRITE,
				   .file = "/home/a.c",
				   .line = 10 + (uint32_t)finding.accesses.n,
				   .function = "f",
				   .variable = variable,
				   .through = kind == 'F' ? "free" : "" };
	struct finding_access *access = finding_add_access(&finding.accesses, FINDING_NO_SITE, &site);

	access->thread = thread;
	return access;
}

static char *picture(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	finding_draw(&finding, &excerpts, out);
	fclose(out);
	return text;
}

/* Every step stands in the column in which the name of its thread begins. */
static void assert_picture(void)
{
	_cleanup_free_ char *text = picture();
	char *rest = text, *line = strsep(&rest, "\n");
	_cleanup_free_ char *head = memory_string(line);
	size_t step = 0;

	while ((line = strsep(&rest, "\n"))) {
		assert_true(strlen(line) <= 80);
		if (strtoul(line, NULL, 10) != step + 1)
			continue;
		const struct finding_access *access = &finding.accesses.items[step++];
		_cleanup_free_ char *name = memory_format("T%u", access->thread);
		_cleanup_free_ char *words = memory_format("%s a.c:%u", finding_verb(access), access->line);
		const char *lane = strstr(head, name), *at = strstr(line, words);

		assert_non_null(lane);
		assert_non_null(at);
		while (lane > head && (lane[-1] != ' ' || lane[-2] != ' '))
			lane--;
		assert_int_equal(lane - head, at - line);
	}
	assert_int_equal(step, finding.accesses.n);
}

/* ---- patterns ---- */

/* What the sentence says, as letters of threads and accesses: "T1 reads x" is 1R. */
static void read_back(const char *sentence, char *out)
{
	static const struct {
		const char *word;
		char letter;
	} verbs[] = { { "reads", 'R' }, { "writes", 'W' }, { "frees", 'F' } };
	char thread = '?';

	for (const char *at = sentence; *at && *at != ':'; at++) {
		if (*at == 'T' && at[1] >= '0' && at[1] <= '9')
			thread = at[1];
		for (size_t i = 0; i < 3; i++)
			if (!strncmp(at, verbs[i].word, strlen(verbs[i].word))) {
				*out++ = thread;
				*out++ = verbs[i].letter;
			}
	}
	*out = '\0';
}

static void assert_turns(const char *expected)
{
	_cleanup_free_ char *sentence = sentence_for(&finding);
	char said[64];

	read_back(sentence, said);
	assert_string_equal(said, expected);
	assert_picture();
}

static void test_two(void **state)
{
	static const char kinds[][3] = { "WR", "RW", "WW" };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t turned = 0; turned < 2; turned++) {
			start(FINDING_ORDER, i + 1);
			add(1 + turned, kinds[i][0], "x");
			add(2 - turned, kinds[i][1], "x");
			char expected[] = { turned ? '2' : '1', kinds[i][0], turned ? '1' : '2', kinds[i][1],
					    0 };
			assert_turns(expected);
		}
	start(FINDING_ORDER, 1);
	add(1, 'W', "x");
	add(2, 'R', "x");
	_cleanup_free_ char *meant = sentence_for(&finding);

	assert_string_equal(meant, "T1 writes x before T2 reads it: T2 was to see the value before that.");
	start(FINDING_ORDER, 2);
	add(1, 'R', "x");
	add(0, 'W', "x")->missing = true;
	_cleanup_free_ char *sentence = sentence_for(&finding);

	assert_string_equal(sentence, "T1 reads x before T0 has written it.");
}

/* The middle one is told first, then the outer two by their nouns. */
static void test_three(void **state)
{
	static const struct {
		char kinds[4];
		const char *sentence;
	} patterns[] = {
		{ "WWR",
		  "T2 writes x between T1's write and its read of it: T1 does not read what it wrote." },
		{ "RWW", "T2 writes x between T1's read and its write of it: what T2 wrote is lost." },
		{ "RWR", "T2 writes x between two reads of it by T1: T1 reads two different values." },
		{ "WRW", "T2 reads x between two writes of it by T1: T2 sees a value that nobody was to "
			 "see." },
	};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		start(FINDING_ATOMICITY, i + 4);
		for (uint32_t a = 0; a < 3; a++)
			add(a == 1 ? 2 : 1, patterns[i].kinds[a], "x");
		_cleanup_free_ char *sentence = sentence_for(&finding);

		assert_string_equal(sentence, patterns[i].sentence);
		assert_picture();
	}
}

/* What has no name is told by its line, since it may be another place each time. */
static void test_unnamed(void **state)
{
	(void)state;
	start(FINDING_ATOMICITY, 5);
	add(1, 'R', "");
	add(2, 'W', "");
	add(1, 'W', "");
	_cleanup_free_ char *one = sentence_for(&finding);

	assert_string_equal(one, "T2 writes memory at line 11 between T1's read and its write of it: what T2 "
				 "wrote is lost.");
	start(FINDING_MULTI_ATOMICITY, 0);
	add(1, 'W', "x");
	add(2, 'R', "x");
	add(2, 'W', "");
	add(1, 'W', "");
	_cleanup_free_ char *many = sentence_for(&finding);

	assert_string_equal(many, "T1 writes x, then T2 reads x and writes memory at line 12, then T1 writes "
				  "memory at line 13: the steps of T1 were to be one.");
}

/* LOCON's eight couples: outer thread 1, inner thread 2, as they stand in Table 1. */
static void test_couples(void **state)
{
	static const char patterns[][4][3] = {
		{ "Rx", "Wx", "Ry", "Wy" }, { "Rx", "Ry", "Wx", "Wy" }, { "Wx", "Rx", "Ry", "Wy" },
		{ "Wx", "Wx", "Ry", "Wy" }, { "Wx", "Wx", "Wy", "Wy" }, { "Wx", "Ry", "Rx", "Wy" },
		{ "Wx", "Ry", "Wx", "Wy" }, { "Wx", "Wy", "Wx", "Wy" },
	};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		char expected[9] = "";

		start(FINDING_MULTI_ATOMICITY, i + 8);
		for (uint32_t a = 0; a < 4; a++) {
			add(a == 1 || a == 2 ? 2 : 1, patterns[i][a][0], patterns[i][a] + 1);
			expected[2 * a + 1] = patterns[i][a][0];
			expected[2 * a] = a == 1 || a == 2 ? '2' : '1';
		}
		/* A thread is named once for its turn, which read_back keeps. */
		assert_turns(expected);
		_cleanup_free_ char *sentence = sentence_for(&finding);
		assert_non_null(strstr(sentence, "the steps of T1 were to be one."));
	}
}

static void test_memory(void **state)
{
	(void)state;
	start(FINDING_ORDER, 1);
	add(1, 'F', "");
	add(2, 'R', "x");
	_cleanup_free_ char *used = sentence_for(&finding);

	assert_string_equal(used, "T1 frees the block that T2 uses after that.");
	start(FINDING_ATOMICITY, 6);
	add(2, 'R', "x");
	add(1, 'F', "");
	add(2, 'W', "x");
	_cleanup_free_ char *between = sentence_for(&finding);

	assert_string_equal(between,
			    "T1 frees the block between T2's read and its write of it: T2 goes on with a "
			    "block that is gone.");
	assert_picture();
}

/* What is about calls keeps the words of who found it. */
static void test_calls(void **state)
{
	(void)state;
	start(FINDING_DEADLOCK, 0);
	add(1, 'R', "")->role = "lock";
	add(2, 'R', "")->role = "lock";
	finding.summary =
		memory_string("2 threads wait for each other: each has the lock that the next one wants.");
	_cleanup_free_ char *sentence = sentence_for(&finding);

	assert_string_equal(sentence, finding.summary);
	start(FINDING_LOST_WAKEUP, 0);
	add(1, 'R', "x");
	add(2, 'R', "")->role = "signal";
	_cleanup_free_ char *none = sentence_for(&finding);

	assert_string_equal(none, "");
}

/* Nobody knows the threads: there are lanes all the same. */
static void test_unknown_threads(void **state)
{
	size_t lane[12];

	(void)state;
	start(FINDING_ATOMICITY, 5);
	for (uint32_t a = 0; a < 3; a++)
		add(FINDING_NO_THREAD, a ? 'W' : 'R', "x");
	assert_int_equal(sentence_lanes(&finding.accesses, lane), 2);
	assert_true(lane[0] == lane[2] && lane[0] != lane[1]);
	_cleanup_free_ char *sentence = sentence_for(&finding), *drawn = picture();

	assert_string_equal(sentence,
			    "Another thread writes x between one thread's read and its write of it: what "
			    "another thread wrote is lost.");
	assert_null(strstr(drawn, "?"));
}

/* ---- passing runs ---- */

static void assert_passing(struct finding_passing passing, const char *words)
{
	start(FINDING_ATOMICITY, 0);
	finding.passing = passing;
	_cleanup_free_ char *said = passing_words(&finding);

	assert_string_equal(said, words);
}

static void test_passing(void **state)
{
	struct finding_passing reversed = { PASSING_REVERSED, 2, 1, true, false, .before = 7, .runs = 7 };
	struct finding_passing apart = {
		PASSING_APART, 2, 1, true, true, .before = 1, .after = 3, .runs = 9
	};

	(void)state;
	assert_passing(reversed, "In all 7 passing runs the write comes first, then the read.");
	reversed.runs = 9;
	assert_passing(reversed, "In 7 passing runs the write comes first, then the read.");
	reversed.runs = reversed.before = 1;
	assert_passing(reversed, "In the 1 passing run the write comes first, then the read.");
	reversed.before = 0;
	assert_passing(reversed, "In passing runs the two do not meet in this order.");
	assert_passing(apart,
		       "In passing runs T2's write comes before both accesses of T1 (1 run) or after both "
		       "(3 runs).");
	apart.before = 0;
	assert_passing(apart, "In passing runs T2's write comes after both accesses of T1.");
	assert_passing(
		(struct finding_passing){ .kind = PASSING_IN_TURN, .one = 1, .other = 3 },
		"In passing runs T1 is done with all of these variables before T3 begins, or the other "
		"way round.");
	start(FINDING_ORDER, 0);
	assert_null(passing_words(&finding));
}

/* ---- proofs ---- */

static void assert_proof(uint64_t given_up, uint64_t occurred, const char *words)
{
	const struct causes causes = { .any = { .runs = 48, .failed = 24 },
				       .near = { .runs = 48, .failed = 24 } };
	const struct cause cause = { .claim = { .kind = CLAIM_ATOMIC },
				     .proof = { .near = { .runs = 48, .given_up = given_up },
						.any = { .runs = 48 },
						.forced = { .runs = 32,
							    .failed = 32,
							    .occurred = occurred,
							    .failed_occurred = occurred } } };
	_cleanup_free_ char *said = proof_words(&causes, &cause);

	assert_string_equal(said, words);
}

static void test_proof(void **state)
{
	(void)state;
	assert_proof(0, 32,
		     "Forced it fails in 32 of 32 runs. With these made one step 0 of 96 schedules fail (50 "
		     "% before).");
	assert_proof(4, 8,
		     "Forced it came about in 8 of 32 runs and fails in 8 of these. With these made one step "
		     "0 of 92 "
		     "schedules fail (50 % before). 4 more in which that could not be kept up are left out.");
	assert_proof(40, 0,
		     "It could not be forced. With these made one step 0 of 96 schedules fail (50 % before). "
		     "In 40 of "
		     "these it could not be kept up, so that they show little.");
}

/* Of `occurred` runs in which it came about `failed` do; others fail, too. */
static void assert_forced(enum claim_kind kind, uint64_t occurred, uint64_t failed, uint64_t others,
			  const char *words)
{
	const struct causes causes = { .any = { .runs = 48, .failed = 24 } };
	struct finding seen = { .evidence = memory_string("It was seen.") };
	const struct cause cause = { .finding = &seen,
				     .claim = { .kind = kind, .nsteps = 2 },
				     .proof = { .any = { .runs = 48 },
						.forced = { .runs = 32,
							    .failed = failed + others,
							    .occurred = occurred,
							    .failed_occurred = failed } } };
	_cleanup_free_ char *said = proof_words(&causes, &cause);

	if (strncmp(said, words, strlen(words)) != 0)
		assert_string_equal(said, words);
	finding_free(&seen);
}

/* What forcing shows, and what it does not. */
static void test_forced(void **state)
{
	(void)state;
	assert_forced(CLAIM_ATOMIC, 30, 0, 2,
		      "Forced it came about in 30 of 32 runs and fails in none of these: by itself it is not "
		      "enough. "
		      "With these made one step 0 of 48 schedules fail");
	assert_forced(CLAIM_MISSED, 0, 0, 0,
		      "It was seen. With the signal kept for who comes too late 0 of 48");
	assert_forced(CLAIM_MISSED, 0, 0, 9, "Forced it fails in 9 of 32 runs. With the signal kept");
	assert_forced(CLAIM_LOCKS, 0, 0, 0,
		      "It was seen. With only one thread at a time between these locks 0 of 48");
	assert_forced(CLAIM_TAKEN, 0, 0, 9, "It was seen. With this signal made a broadcast 0 of 48");
	assert_forced(CLAIM_TAKEN, 8, 8, 0,
		      "Forced it came about in 8 of 32 runs and fails in 8 of these. With this signal made a "
		      "broadcast");
}

/* ---- locks ---- */

static void test_names(void **state)
{
	static const char *const lines[][2] = {
		{ "pthread_mutex_lock(&queue->lock);", "queue->lock" },
		{ "if (pthread_mutex_trylock(&m[i % 4]) == 0)", "m[i % 4]" },
		{ "std::lock_guard<std::mutex> guard(table.lock);", "table.lock" },
		{ "std::unique_lock<std::mutex> hold{ mutex_ };", "mutex_" },
		{ "pthread_rwlock_rdlock(&names);", "names" },
		{ "self->big.lock();", "self->big" },
		{ "pthread_cond_wait(&q->full, &q->lock);", "q->lock" },
		{ "enter();", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		_cleanup_free_ char *name = lock_name_in(lines[i][0]);

		assert_string_equal(name, lines[i][1]);
	}
}

static void hold(size_t access, uint64_t object, size_t section)
{
	*VEC_PUSH(&finding.accesses.items[access].locks) =
		(struct finding_lock){ .object = object,
				       .section = section,
				       .file = memory_string("a.c"),
				       .line = 5,
				       .given_back = 7,
				       .function = memory_string("take"),
				       .back = memory_string("take") };
}

/* Where a lock was taken has a line of its own in the picture when both do not fit beside the other lane. */
static void test_long_lock(void **state)
{
	(void)state;
	start(FINDING_ORDER, 1);
	add(1, 'W', "x")->locks_known = true;
	add(2, 'R', "x")->locks_known = true;
	hold(0, 8, 1);
	_cleanup_free_ char *drawn = picture();

	assert_non_null(strstr(drawn, "holds the lock taken at a.c:5\n"));
	assert_non_null(strstr(drawn, " since :5\n"));
}

static void assert_advice(const char *words)
{
	for (size_t i = 0; i < finding.accesses.n; i++)
		finding.accesses.items[i].locks_known = true;
	_cleanup_free_ char *advice = advice_for(&finding, &excerpts);

	if (!strstr(advice, words))
		fail_msg("'%s' is not in '%s'", words, advice);
}

static void triple(void)
{
	start(FINDING_ATOMICITY, 5);
	add(1, 'R', "x");
	add(2, 'W', "x");
	add(1, 'W', "x");
}

static void go_through(struct finding_access *access, const char *name)
{
	free(access->through);
	access->through = memory_string(name);
}

/* A lost wake-up: what was looked at through `look`, and waited for through `wait`. */
static void missed(const char *wait, const char *look)
{
	start(FINDING_LOST_WAKEUP, 0);
	go_through(add(1, 'R', "x"), look);
	go_through(add(2, 'W', "x"), "std::semaphore::release");
	add(2, 'R', "std::semaphore::release")->role = "signal";
	add(1, 'R', wait)->role = "wait";
}

/* A signal that woke T2, who waited at `line`, while T3 waited at line 30. */
static void taken(const char *call, uint32_t line)
{
	start(FINDING_LOST_WAKEUP, 0);
	add(1, 'R', call)->role = "signal";
	struct finding_access *woken = add(2, 'R', "wait");

	woken->role = "woken";
	woken->line = line;
	struct finding_access *stuck = add(3, 'R', "wait");

	stuck->role = "wait";
	stuck->line = 30;
}

static void test_taken_signal(void **state)
{
	(void)state;
	taken("pthread_cond_signal", 20);
	assert_advice("Call pthread_cond_broadcast instead of pthread_cond_signal at a.c:10: threads wait "
		      "there for "
		      "different things (a.c:20, a.c:30)");
	taken("cnd_signal", 30);
	assert_advice("Call cnd_broadcast instead of cnd_signal at a.c:10: several threads wait at a.c:30");
	taken("std::condition_variable::notify_one", 30);
	assert_advice("Call notify_all instead of std::condition_variable::notify_one at a.c:10");
}

static void test_advice(void **state)
{
	(void)state;
	triple();
	assert_advice("None of these holds a lock.");
	assert_advice("hold one lock from a.c:10 to a.c:12, also around a.c:11;");
	for (size_t i = 0; i < 3; i++)
		finding.accesses.items[i].line = 10;
	assert_advice("hold one lock around a.c:10;");
	triple(); /* all hold it, in three sections */
	for (size_t i = 0; i < 3; i++)
		hold(i, 1, i);
	assert_advice("The section is too short");
	_cleanup_free_ char *advice = advice_for(&finding, &excerpts);

	assert_null(strstr(advice, "one lock"));
	triple();
	hold(0, 1, 0);
	hold(2, 1, 0);
	assert_advice("T2 holds no lock at a.c:11");
	triple();
	hold(0, 1, 0);
	hold(2, 1, 3);
	assert_advice("does not hold the lock taken at a.c:5 all the way");
	triple();
	hold(1, 1, 0);
	assert_advice("T1 holds no lock; T2 holds");
	triple();
	hold(0, 1, 0);
	hold(2, 1, 0);
	hold(1, 2, 1);
	assert_advice("Different locks");
	triple(); /* the right lock, but not at the first access */
	hold(1, 1, 0);
	hold(2, 1, 1);
	assert_advice("T1 holds the lock taken at a.c:5 at a.c:12, but not at a.c:10. Let it hold the lock "
		      "taken at a.c:5 from a.c:10 to a.c:12.");
	start(FINDING_MULTI_ATOMICITY, 0); /* and the other thread's part is longer */
	add(1, 'W', "x");
	add(2, 'R', "y");
	add(2, 'R', "x");
	add(1, 'W', "y");
	hold(1, 1, 0);
	hold(3, 1, 1);
	assert_advice("and T2 from a.c:11 to a.c:12.");
	start(FINDING_MULTI_ATOMICITY, 0); /* only a third thread holds one */
	add(1, 'W', "x");
	add(2, 'R', "x");
	add(3, 'R', "y");
	add(1, 'W', "y");
	hold(2, 1, 0);
	assert_advice("belong together");
	start(FINDING_ORDER, 1); /* a block is freed while it is in use */
	go_through(add(1, 'W', ""), "free");
	add(2, 'R', "x");
	assert_advice("or hold one lock from finding the block");
	hold(1, 1, 0);
	assert_advice("or free it under the lock taken at a.c:5");
	hold(0, 1, 1);
	assert_advice("or look the block up again after taking the lock taken at a.c:5");
	start(FINDING_ORDER, 2);
	add(1, 'R', "x");
	add(2, 'W', "x");
	hold(0, 1, 0);
	hold(1, 1, 1);
	assert_advice("A wait is missing");
	start(FINDING_MEMORY, 0);
	add(1, 'W', "x");
	add(1, 'R', "x");
	assert_advice("The order of threads does not matter here.");
	start(FINDING_MEMORY, 0);
	add(1, 'W', "x");
	add(2, 'W', "x");
	assert_advice("The order of threads does not matter here.");
	finding.runs.passed = 1;
	assert_advice("Hold one lock around all that these threads do with this memory");
	start(FINDING_ATOMICITY, 4);
	add(1, 'W', "localtime.result");
	add(2, 'W', "localtime.result");
	add(1, 'R', "tm.tm_year");
	assert_advice("use gmtime_r and localtime_r.");
	missed("changed", "");
	assert_advice("Check the condition and wait under one mutex");
	missed("std::semaphore::acquire", "std::semaphore::acquire");
	assert_advice("both inside std::semaphore::acquire, the write and the signal inside "
		      "std::semaphore::release: "
		      "the fault is theirs.");
	missed("std::condition_variable::wait", "std::atomic::operator bool");
	assert_advice("Check the condition and wait under one mutex");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_three),
		cmocka_unit_test(test_couples),
		cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_unknown_threads),
		cmocka_unit_test(test_passing),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_taken_signal),
		cmocka_unit_test(test_proof),
		cmocka_unit_test(test_forced),
		cmocka_unit_test(test_long_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
