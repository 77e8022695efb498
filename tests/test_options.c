/* Command lines by table: what is accepted, what becomes of it, and the
 * sentences about mistakes, which are compared word by word because they are
 * what a user has to go by.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/options.h"

struct values {
	bool flag;
	const char *string;
	uint64_t number, delay;
	double seconds;
	unsigned word, words;
};

static const char *const kinds[] = { "red", "green", "blue", NULL };

#define AT(member) .offset = offsetof(struct values, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "flag", .kind = OPTIONS_FLAG, AT(flag), .help = "a flag" },
	{ .name = "string", .value = "S", .kind = OPTIONS_STRING, AT(string), .help = "a string" },
	{ 'n', "number", "N", OPTIONS_NUMBER, AT(number), .low = 1, .high = 100, .help = "a number" },
	{ .name = "delay", .value = "US", .kind = OPTIONS_NUMBER, AT(delay), .high = UINT64_MAX, .bare = "200",
	  .help = "a number that may be left out" },
	{ .name = "seconds", .value = "S", .kind = OPTIONS_SECONDS, AT(seconds), .help = "seconds" },
	{ .name = "word", .value = "W", .kind = OPTIONS_WORD, AT(word), .words = kinds, .help = "a word" },
	{ .name = "words", .value = "LIST", .kind = OPTIONS_WORDS, AT(words), .words = kinds, .help = "words" },
	{ 0 },
};
/* clang-format on */

static struct options_page page = { .verb = "test", .operands = "...", .text = "Text.", .entries = entries };

/* Parses a line of words separated by single blanks. Returns the sentence of the
 * error, NULL when there is none; *rest gets the operands, joined by commas. */
static char *parse(const char *line, struct values *values, char **rest)
{
	_cleanup_free_ char *copy = memory_format("test %s", line);
	char *argv[32], **operands;
	int argc = 0;

	*values = (struct values){ 0 };
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	struct error *error = options_parse(&page, argc, argv, values, &operands);

	*rest = memory_string("");
	for (char **word = operands; !error && *word; word++) {
		char *longer = memory_format("%s%s%s", *rest, **rest ? "," : "", *word);

		free(*rest);
		*rest = longer;
	}
	/* Strings point into the line that is freed here. */
	if (values->string)
		values->string = strcmp(values->string, "x") ? "other" : "x";
	char *sentence = error ? memory_string(error->message) : NULL;

	error_free(error);
	return sentence;
}

static void right(const char *line, const char *operands, struct values *values)
{
	_cleanup_free_ char *rest = NULL;
	_cleanup_free_ char *sentence = parse(line, values, &rest);

	assert_null(sentence);
	assert_string_equal(rest, operands);
}

static void wrong(const char *line, const char *expected)
{
	struct values values;
	_cleanup_free_ char *rest = NULL;
	_cleanup_free_ char *sentence = parse(line, &values, &rest);

	assert_non_null(sentence);
	assert_string_equal(sentence, expected);
}

static void test_values(void **state)
{
	struct values v;

	(void)state;
	right("", "", &v);
	right("--flag --string x -n 7 --seconds 0.5 --word green --words red,blue", "", &v);
	assert_true(v.flag);
	assert_string_equal(v.string, "x");
	assert_int_equal(v.number, 7);
	assert_true(v.seconds == 0.5);
	assert_int_equal(v.word, 1);
	assert_int_equal(v.words, 5);
	right("-n7", "", &v);
	assert_int_equal(v.number, 7);
	right("--number=7 --number 8", "", &v);
	assert_int_equal(v.number, 8);
	right("--delay", "", &v);
	assert_int_equal(v.delay, 200);
	right("--delay=18446744073709551615", "", &v);
	assert_true(v.delay == UINT64_MAX);
	right("--words all", "", &v);
	assert_int_equal(v.words, 7);
	right("--words none", "", &v);
	assert_int_equal(v.words, 0);
}

static void test_operands(void **state)
{
	struct values v;

	(void)state;
	right("a --flag b -- --flag -n c", "a,b,--flag,-n,c", &v);
	assert_true(v.flag);
	right("--delay 7", "7", &v); /* a value that may be left out is never the next word */
	assert_int_equal(v.delay, 200);
	right("- a", "-,a", &v);
	page.program = true;
	right("--flag ./program -n --flag", "./program,-n,--flag", &v);
	assert_int_equal(v.number, 0);
	right("-- -n", "-n", &v);
	page.program = false;
}

static void test_mistakes(void **state)
{
	(void)state;
	wrong("--flg", "unknown option --flg, did you mean --flag?");
	wrong("--numbre=4", "unknown option --numbre, did you mean --number?");
	wrong("--sec 1", "unknown option --sec, did you mean --seconds?");
	wrong("--zzzzzz", "unknown option --zzzzzz; see unsnarl help test");
	wrong("-x", "unknown option -x; see unsnarl help test");
	wrong("-n", "-n wants a value: -n N");
	wrong("-n 0", "-n wants a whole number from 1 to 100, not '0'");
	wrong("-n 101", "-n wants a whole number from 1 to 100, not '101'");
	wrong("-n -1", "-n wants a whole number from 1 to 100, not '-1'");
	wrong("-n 5x", "-n wants a whole number from 1 to 100, not '5x'");
	wrong("--number=", "--number wants a whole number from 1 to 100, not ''");
	wrong("--delay=18446744073709551616",
	      "--delay wants a whole number from 0 to 18446744073709551615, not '18446744073709551616'");
	wrong("--seconds -1", "--seconds wants a number of seconds such as 10 or 0.5, not '-1'");
	wrong("--seconds nan", "--seconds wants a number of seconds such as 10 or 0.5, not 'nan'");
	wrong("--word yellow", "--word knows red, green, blue; not 'yellow'");
	wrong("--words red,,blue", "--words knows red, green, blue; not ''");
	wrong("--flag=1", "--flag takes no value");
	wrong("--string=", "--string wants a value that is not empty");
}

static void test_nearest(void **state)
{
	static const char *const names[] = { "cc", "c++", "run", "runs", "show", "help" };

	(void)state;
	assert_string_equal(options_nearest("rnu", names, 6), "run");
	assert_string_equal(options_nearest("shwo", names, 6), "show");
	assert_string_equal(options_nearest("hlep", names, 6), "help");
	assert_string_equal(options_nearest("sh", names, 6), "show");
	assert_null(options_nearest("hunt", names, 6));
	assert_null(options_nearest("", names, 6));
	assert_null(options_nearest("x", names, 6));
	char giant[4096];

	memset(giant, 'r', sizeof giant - 1);
	giant[sizeof giant - 1] = '\0';
	assert_null(options_nearest(giant, names, 6));
}

static void test_help_fits(void **state)
{
	char *text = NULL, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	options_help(&page, out);
	options_fill(out,
		     "word word word word word word word word word word word word word word word word\n\nend",
		     4, 2);
	fclose(out);
	assert_non_null(strstr(text, "--delay[=US]"));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(strlen(line) < 80);
		assert_true(line[strlen(line) - 1] != ' ');
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),    cmocka_unit_test(test_operands),
		cmocka_unit_test(test_mistakes),  cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_help_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
