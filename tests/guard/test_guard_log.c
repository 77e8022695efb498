/* Guard logs: lines of all kinds and damaged ones, what findings they become, and what a right run lets into a set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "analysis/invariant/violations.h"

static uint64_t state = 88172645463325252u;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

static const char line[] =
	"violation 1 1700000000.123456 pid 7 set 0xab resolved waited 350 times 2 thread 3 site 0x11 "
	"read a\\x20b.c 12:3 f x after thread 2 site 0x22 write a.c 8:1 g y\n";
static const char nobody[] =
	"violation 1 1700000001.0 pid 7 set 0xab unresolved waited 10000 times 1 thread 3 site 0x11 "
	"read a\\x20b.c 12:3 f x after nobody\n";

static const char alone[] =
	"violation 1 1700000001.0 pid 7 set 0xab unresolved waited 10000 times 1 thread 3 site 0x11 "
	"read a\\x20b.c 12:3 f x after nobody early\n";

static void test_log(void **unused)
{
	(void)unused;
	struct violations violations = { 0 };
	struct findings findings = { 0 };

	violations_parse(line, strlen(line), &violations);
	violations_parse(line, strlen(line), &violations);
	violations_parse(nobody, strlen(nobody), &violations);
	violations_parse(alone, strlen(alone), &violations);
	violations_parse("violation 2\n", 12, &violations);
	violations_sort(&violations);
	assert_int_equal(violations.list.n, 3);
	assert_int_equal(violations.damaged, 1);
	assert_int_equal(violations.list.items[0].resolved, 4);
	assert_string_equal(violations.list.items[0].access.file, "a b.c");
	assert_int_equal(violations.list.items[1].before.id, 0);
	violations_findings(&violations, &findings);
	assert_int_equal(findings.items[0].class, FINDING_ATOMICITY);
	assert_int_equal(findings.items[1].class, FINDING_ORDER);
	assert_int_equal(findings.items[0].accesses.items[1].line, 12);
	assert_int_equal(findings.items[2].accesses.n, 1);
	findings_free(&findings);
	violations_free(&violations);
}

/* The last word says how it was against the set, or against a rule. */
static void test_how(void **unused)
{
	(void)unused;
	static const struct {
		const char *word;
		enum violation_how how;
		enum finding_class class;
		uint32_t first; /* line of the access that came first */
	} cases[] = { { "", VIOLATION_AFTER, FINDING_ATOMICITY, 8 },
		      { " again", VIOLATION_AGAIN, FINDING_ATOMICITY, 8 },
		      { " seldom", VIOLATION_SELDOM, FINDING_ATOMICITY, 8 },
		      { " inside", VIOLATION_INSIDE, FINDING_ATOMICITY, 8 },
		      { " early", VIOLATION_EARLY, FINDING_ORDER, 12 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct violations violations = { 0 };
		struct findings findings = { 0 };
		char text[sizeof line + 16];

		snprintf(text, sizeof text, "%.*s%s\n", (int)strlen(line) - 1, line, cases[i].word);
		violations_parse(text, strlen(text), &violations);
		assert_int_equal(violations.list.n, 1);
		assert_int_equal(violations.list.items[0].how, cases[i].how);
		violations_findings(&violations, &findings);
		assert_int_equal(findings.items[0].class, cases[i].class);
		assert_int_equal(findings.items[0].accesses.items[0].line, cases[i].first);
		findings_free(&findings);
		violations_free(&violations);
	}
}

static void test_hostile_log(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3000; i++) {
		struct violations violations = { 0 };
		char text[sizeof line];

		memcpy(text, line, sizeof line);
		size_t size = below(2) ? strlen(line) : below((unsigned)strlen(line));
		for (unsigned k = below(4); k; k--)
			text[below((unsigned)strlen(line))] = (char)below(256);
		violations_parse(text, size, &violations);
		violations_free(&violations);
	}
}

/* A right run in which a thread came back to what it had touched last: from then on it may. */
static void test_relax_turn(void **unused)
{
	(void)unused;
	struct violations violations = { 0 };
	struct guard_set set = { 0 };
	struct site site = { .kind = SITE_READ, .file = "a b.c", .function = "f", .variable = "x" };

	violations_parse(nobody, strlen(nobody), &violations);
	uint32_t number = guard_set_add(&set, &site, (struct place_rank){ 1, 1 });

	guard_set_site(&set, number)->id = 0x11;
	guard_set_allow(&set, number, GUARD_NIL);
	guard_set_site(&set, number)->turn = true;
	assert_int_equal(violations_relax(&violations, &set, false).added, 1);
	assert_false(guard_set_site(&set, number)->turn);
	assert_int_equal(violations_relax(&violations, &set, false).added, 0);
	violations_free(&violations);
	guard_set_free(&set);
}

/* What a patch held is no matter of the sets. */
static void test_relax_rule(void **unused)
{
	(void)unused;
	struct violations violations = { 0 };
	struct guard_set set = { 0 };
	struct site site = { .kind = SITE_READ, .file = "a b.c", .function = "f", .variable = "x" };

	violations_parse(alone, strlen(alone), &violations);
	guard_set_site(&set, guard_set_add(&set, &site, (struct place_rank){ 1, 1 }))->id = 0x11;
	const struct relaxed relaxed = violations_relax(&violations, &set, true);

	assert_int_equal(relaxed.added, 0);
	assert_int_equal(relaxed.ruled, 1);
	violations_free(&violations);
	guard_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_log), cmocka_unit_test(test_how),
					    cmocka_unit_test(test_hostile_log),
					    cmocka_unit_test(test_relax_turn),
					    cmocka_unit_test(test_relax_rule) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
