/* The weighing of opinions: hand-made cases, and rules that must hold for any opinions,
 * checked on random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/advice.h"
#include "diagnose/shown_accesses.h"
#include "diagnose/weigh.h"

static struct opinion *add_opinion(struct opinions *opinions, const char *method, enum opinion_kind kind,
				   double trust)
{
	struct opinion *opinion = VEC_PUSH(opinions);

	opinion->method = method;
	opinion->words = method;
	opinion->kind = kind;
	opinion->trust = trust;
	return opinion;
}

/* `text` is like "1r10 2w20": thread, kind, line. */
static struct finding *add_finding(struct opinion *opinion, enum finding_class class, unsigned scenario,
				   double score, const char *text)
{
	struct finding *finding = VEC_PUSH(&opinion->findings);

	finding->rank = (unsigned)opinion->findings.n;
	finding->class = class;
	finding->scenario = scenario;
	finding->score = score;
	while (*text) {
		char *end;
		uint32_t thread = (uint32_t)strtoul(text, &end, 10);
		char kind = *end;
		const struct site site = { .kind = kind == 'w' ? SITE_WRITE : SITE_READ,
					   .line = (uint32_t)strtoul(end + 1, &end, 10),
					   .function = "f",
					   .file = "a.c",
					   .variable = "x" };
		struct finding_access *access = finding_add_access(&finding->accesses, 0, &site);

		access->thread = thread;
		text = end + (*end == ' ');
	}
	return finding;
}

static void test_nothing(void **state)
{
	struct opinions opinions = { 0 };
	struct causes causes;

	(void)state;
	weigh(&opinions, &causes);
	assert_int_equal(causes.n, 0);
	add_opinion(&opinions, "locate", OPINION_CLAIM, 0.7);
	add_opinion(&opinions, "rank", OPINION_POINTS, 0.7);
	weigh(&opinions, &causes);
	assert_int_equal(causes.n, 0);
	opinions_free(&opinions);
}

static void test_agreement(void **state)
{
	struct opinions opinions = { 0 };
	struct causes alone, both, against;

	(void)state;
	add_finding(add_opinion(&opinions, "locate", OPINION_CLAIM, 0.7), FINDING_ORDER, 2, 1, "1r10 2w20");
	weigh(&opinions, &alone);
	assert_int_equal(alone.n, 1);
	assert_float_equal(alone.items[0].confidence, 0.7, 1e-9);

	/* A place among the first three raises it, elsewhere it is lowered and said so. */
	struct opinion *rank = add_opinion(&opinions, "rank", OPINION_POINTS, 0.7);

	add_finding(rank, FINDING_ATOMICITY, 0, 1, "1r20");
	weigh(&opinions, &both);
	assert_int_equal(both.n, 1);
	assert_true(both.items[0].confidence > alone.items[0].confidence);
	assert_int_equal(both.items[0].agreed, 2);
	rank->findings.items[0].accesses.items[0].line = 99;
	weigh(&opinions, &against);
	assert_true(against.items[0].confidence < alone.items[0].confidence);
	assert_int_equal(against.items[0].disagreed, 2);

	/* Who claims calls is not contradicted by who only sees memory. */
	opinions.items[0].findings.items[0].accesses.items[0].role = "lock";
	VEC_FREE(&against);
	weigh(&opinions, &against);
	assert_float_equal(against.items[0].confidence, 0.7, 1e-9);
	VEC_FREE(&alone);
	VEC_FREE(&both);
	VEC_FREE(&against);
	opinions_free(&opinions);
}

/* The same claim twice, from other threads, is one cause; so is a place when nobody claims. */
static void test_merging(void **state)
{
	struct opinions opinions = { 0 };
	struct causes causes;

	(void)state;
	add_finding(add_opinion(&opinions, "one", OPINION_CLAIM, 0.7), FINDING_ATOMICITY, 5, 1,
		    "1r10 2w20 1w20");
	add_finding(add_opinion(&opinions, "two", OPINION_CLAIM, 0.7), FINDING_ATOMICITY, 5, 1,
		    "3r10 1w20 3w20");
	weigh(&opinions, &causes);
	assert_int_equal(causes.n, 1);
	assert_int_equal(causes.items[0].claimed, 3);
	assert_float_equal(causes.items[0].confidence, 1 - 0.3 * 0.3, 1e-9);
	VEC_FREE(&causes);
	opinions_free(&opinions);

	add_opinion(&opinions, "one", OPINION_CLAIM, 0.7);
	add_finding(add_opinion(&opinions, "rank", OPINION_POINTS, 0.7), FINDING_ATOMICITY, 0, 1, "1r10");
	weigh(&opinions, &causes);
	assert_int_equal(causes.n, 1);
	assert_true(causes.items[0].confidence < 0.5);
	assert_string_equal(weigh_words(causes.items[0].confidence), "a guess");
	VEC_FREE(&causes);
	opinions_free(&opinions);
}

static void test_whole(void **state)
{
	struct opinions opinions = { 0 };
	struct causes causes;

	(void)state;
	/* The order is surer, but the triple holds it and both threads run the same line. */
	add_finding(add_opinion(&opinions, "locate", OPINION_CLAIM, 0.9), FINDING_ORDER, 2, 1, "1r10 2w20");
	add_finding(add_opinion(&opinions, "switches", OPINION_CLAIM, 0.4), FINDING_ATOMICITY, 5, 1,
		    "3r10 1w20 3w20");
	weigh(&opinions, &causes);
	assert_int_equal(causes.n, 2);
	assert_int_equal(causes.items[0].finding->class, FINDING_ATOMICITY);
	assert_ptr_equal(causes.items[0].part, &opinions.items[0].findings.items[0]);
	/* Different code, and nobody who compared says so: the order stays. */
	opinions.items[1].findings.items[0].accesses.items[2].line = 30;
	VEC_FREE(&causes);
	weigh(&opinions, &causes);
	assert_int_equal(causes.items[0].finding->class, FINDING_ORDER);
	/* Different code, but a method that compares runs says so. */
	opinions.items[1].trust = 0.7;
	VEC_FREE(&causes);
	weigh(&opinions, &causes);
	assert_int_equal(causes.items[0].finding->class, FINDING_ATOMICITY);
	VEC_FREE(&causes);
	opinions_free(&opinions);
}

/* What led to something is not less believed than what it led to, unless the orders are unknown. */
static void test_earlier(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct opinions opinions = { 0 };
		struct causes causes;
		struct opinion *locate = add_opinion(&opinions, "locate", OPINION_CLAIM, 0.7);
		struct finding *first = add_finding(locate, FINDING_ORDER, 1, 0.9, "1r10 2w20");
		struct finding *second = add_finding(locate, FINDING_ATOMICITY, 4, 0.9, "2w30 1w30");

		for (size_t i = 0; known && i < 2; i++) {
			first->accesses.items[i].order = 5;
			second->accesses.items[i].order = 6;
		}
		struct opinion *rank = add_opinion(&opinions, "rank", OPINION_POINTS, 0.7);
		add_finding(rank, FINDING_NONE, 0, 0.9, "1w30");
		weigh(&opinions, &causes);
		assert_true(causes.n >= 2);
		assert_int_equal(causes.items[0].finding->accesses.items[1].line, known ? 20 : 30);
		VEC_FREE(&causes);
		opinions_free(&opinions);
	}
}

static enum opinion_word word;

static enum opinion_word say(const void *context, const struct finding *finding)
{
	(void)context;
	(void)finding;
	return word;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Whatever the opinions: in falling order, within bounds, a witness moves all the right way. */
static void test_random(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct opinions opinions = { 0 };
		struct causes nothing, yes, no;
		size_t n = next_random(&seed) % 5 + 1;

		for (size_t i = 0; i < n; i++) {
			struct opinion *opinion = add_opinion(
				&opinions, "m", next_random(&seed) % 2 ? OPINION_CLAIM : OPINION_POINTS,
				(double)(next_random(&seed) % 100) / 100);

			for (size_t j = next_random(&seed) % 4; j > 0; j--) {
				char text[64];

				snprintf(text, sizeof text, "1%c%d 2%c%d", "rw"[next_random(&seed) % 2],
					 (int)(next_random(&seed) % 4), "rw"[next_random(&seed) % 2],
					 (int)(next_random(&seed) % 4));
				add_finding(opinion, FINDING_ORDER, next_random(&seed) % 2 ? 2 : 0,
					    (double)(next_random(&seed) % 101) / 100, text);
			}
		}
		struct opinion *witness = add_opinion(&opinions, "w", OPINION_WITNESS, 1);

		witness->witness = say;
		word = WORD_NOTHING;
		weigh(&opinions, &nothing);
		word = WORD_YES;
		weigh(&opinions, &yes);
		word = WORD_NO;
		weigh(&opinions, &no);
		assert_int_equal(nothing.n, yes.n);
		assert_int_equal(nothing.n, no.n);
		for (size_t i = 0; i < nothing.n; i++) {
			assert_true(nothing.items[i].confidence >= 0 && nothing.items[i].confidence <= 0.99);
			assert_true(!i || nothing.items[i].confidence <= nothing.items[i - 1].confidence);
			assert_true(yes.items[i].confidence >= nothing.items[i].confidence);
			assert_true(no.items[i].confidence <= nothing.items[i].confidence);
			assert_int_equal(nothing.items[i].claimed & nothing.items[i].disagreed, 0);
		}
		VEC_FREE(&nothing);
		VEC_FREE(&yes);
		VEC_FREE(&no);
		opinions_free(&opinions);
	}
}

/* A trace of lines of a.c on one address: "1r10 2w20 …" as above, with "@7" before an address. */
static void make_trace(const char *text, struct observations *run, struct atlas *atlas)
{
	static struct site sites[200];
	static const struct site *numbered[200];
	static struct event events[64];
	uint64_t address = 1;
	size_t n = 0;

	for (uint32_t i = 0; i < 200; i++) {
		sites[i] = (struct site){ .line = i, .file = "a.c", .function = "f", .variable = "x" };
		numbered[i] = &sites[i];
	}
	while (*text) {
		char *end;

		if (*text == '@') {
			address = strtoul(text + 1, &end, 10);
			text = end + (*end == ' ');
			continue;
		}
		events[n].thread = (uint32_t)strtoul(text, &end, 10);
		events[n].write = *end == 'w';
		events[n].site = (uint32_t)strtoul(end + 1, &end, 10);
		events[n++].address = address;
		text = end + (*end == ' ');
	}
	*run = (struct observations){ .events = events, .nevents = n };
	*atlas = (struct atlas){ .numbered = numbered, .nnumbered = 200 };
}

static enum opinion_word ask(const char *events, enum finding_class class, const char *accesses, bool missing)
{
	struct opinions opinions = { 0 };
	struct observations run;
	struct atlas atlas;
	struct finding *finding =
		add_finding(add_opinion(&opinions, "m", OPINION_CLAIM, 1), class, 0, 1, accesses);

	finding->accesses.items[finding->accesses.n - 1].missing = missing;
	make_trace(events, &run, &atlas);
	const struct trace trace = { .run = &run, .atlas = &atlas };
	enum opinion_word answer = trace_word(&trace, finding);

	opinions_free(&opinions);
	return answer;
}

static void test_witness(void **state)
{
	(void)state;
	/* In between, in other threads than the finding's, and not in between. */
	assert_int_equal(ask("3r10 4w20 3w30", FINDING_ATOMICITY, "1r10 2w20 1w30", false), WORD_YES);
	assert_int_equal(ask("3r10 3w30 4w20", FINDING_ATOMICITY, "1r10 2w20 1w30", false), WORD_NO);
	assert_int_equal(ask("3r10 3w30 4w20 3w30", FINDING_ATOMICITY, "1r10 2w20 1w30", false), WORD_NO);
	assert_int_equal(ask("3r10 3w30 3r10 4w20 3w30", FINDING_ATOMICITY, "1r10 2w20 1w30", false),
			 WORD_YES);
	assert_int_equal(ask("3r10 @2 4w20 @1 3w30", FINDING_ATOMICITY, "1r10 2w20 1w30", false), WORD_NO);
	assert_int_equal(ask("3r10 3w20 3w30", FINDING_ATOMICITY, "1r10 2w20 1w30", false), WORD_NO);
	/* An order: before the other was done for the first time, or never. */
	assert_int_equal(ask("1r10 2w20", FINDING_ORDER, "5r10 6w20", false), WORD_YES);
	assert_int_equal(ask("2w20 1r10", FINDING_ORDER, "5r10 6w20", false), WORD_NO);
	assert_int_equal(ask("1r10", FINDING_ORDER, "5r10 6w20", true), WORD_YES);
	assert_int_equal(ask("2w21", FINDING_ORDER, "5r10 6w20", false), WORD_NO);
	/* Several variables. */
	assert_int_equal(
		ask("1w10 @2 2r21 @1 2r20 @2 1w11", FINDING_MULTI_ATOMICITY, "1w10 2r20 1w11", false),
		WORD_YES);
	/* Threads that are not known are different ones. */
	assert_int_equal(ask("1r10 2w20", FINDING_ORDER, "4294967295r10 4294967295w20", false), WORD_YES);
	assert_int_equal(ask("2w20 1r10", FINDING_ORDER, "4294967295r10 4294967295w20", false), WORD_NO);
	/* Nobody to compare with. */
	assert_int_equal(ask("", FINDING_ORDER, "5r10 6w20", false), WORD_NOTHING);
	assert_int_equal(ask("1r10 2w20", FINDING_ORDER, "5r10 5w20", false), WORD_NOTHING);
}

/* Naive: some thread's a, another's b, the first one's c on one location, and no c of the first one
 * between its a and the b. `lines` are those of a, b and c; a is a read if c is one. */
static bool holds_triple(const struct observations *run, const uint32_t lines[3], const bool writes[3])
{
	const struct event *e = run->events;

#define IS(event, step) ((event).site == lines[step] && (event).write == writes[step])
	for (size_t i = 0; i < run->nevents; i++)
		for (size_t j = i + 1; j < run->nevents; j++)
			for (size_t k = j + 1; k < run->nevents; k++) {
				bool good = IS(e[i], 0) && IS(e[j], 1) && IS(e[k], 2) &&
					    e[i].thread == e[k].thread && e[i].thread != e[j].thread &&
					    e[i].address == e[j].address && e[j].address == e[k].address;

				for (size_t m = i + 1; m < j && good; m++)
					good = !(IS(e[m], 2) && e[m].thread == e[i].thread &&
						 e[m].address == e[i].address);
				if (good)
					return true;
			}
#undef IS
	return false;
}

static void test_witness_random(void **state)
{
	static const uint32_t lasts[] = { 30, 20, 10 };
	uint64_t seed = 11;
	unsigned found = 0, rounds = 20000;

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		uint32_t last = lasts[next_random(&seed) % 3];
		const uint32_t lines[3] = { 10, 20, last };
		const bool writes[3] = { false, true, last != 10 };
		char events[256] = "", accesses[64];
		struct observations run;
		struct atlas atlas;

		for (size_t n = next_random(&seed) % 10 + 1; n > 0; n--) {
			size_t step = next_random(&seed) % 3, used = strlen(events);

			snprintf(events + used, sizeof events - used, "@%d %d%c%u ",
				 (int)(next_random(&seed) % 2), (int)(next_random(&seed) % 3),
				 writes[step] ? 'w' : 'r', lines[step]);
		}
		snprintf(accesses, sizeof accesses, "1r10 2w20 1%c%u", writes[2] ? 'w' : 'r', last);
		enum opinion_word got = ask(events, FINDING_ATOMICITY, accesses, false);

		make_trace(events, &run, &atlas);
		bool naive = holds_triple(&run, lines, writes);

		assert_int_equal(got, naive ? WORD_YES : WORD_NO);
		found += naive;
	}
	assert_true(found > rounds / 20 && found < rounds);
}

static void test_advice(void **state)
{
	struct opinions opinions = { 0 };
	struct opinion *opinion = add_opinion(&opinions, "m", OPINION_CLAIM, 1);

	(void)state;
	/* Every class and scenario has a sentence, with or without accesses. */
	for (int class = FINDING_ATOMICITY; class < FINDING_CLASSES; class ++)
		for (unsigned scenario = 0; scenario < 17; scenario++)
			for (int with = 0; with < 2; with++) {
				struct finding *finding =
					add_finding(opinion, (enum finding_class) class, scenario, 1,
						    with ? "1r10 2w20 1w30" : "");
				_cleanup_free_ char *advice = advice_for(finding);

				assert_true(strlen(advice) > 20);
			}
	opinions_free(&opinions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_merging), cmocka_unit_test(test_whole),
		cmocka_unit_test(test_earlier), cmocka_unit_test(test_random),
		cmocka_unit_test(test_witness), cmocka_unit_test(test_witness_random),
		cmocka_unit_test(test_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
