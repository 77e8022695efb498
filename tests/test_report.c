/* The terminal and JSON side, fed with hostile names: nothing may steer the
 * terminal, every line must fit, every answer must be valid. The store is
 * replaced by a function that makes up sites. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/answer.h"
#include "report/listing.h"
#include "report/plot.h"
#include "report/grid.h"
#include "report/text.h"
#include "report/words.h"

#define ROUNDS 3000

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* Bytes of all sorts: plain, control, UTF-8 wide and zero-width, broken. */
static char *random_bytes(size_t most)
{
	static const char *const parts[] = { "a",
					     "Z",
					     "/",
					     " ",
					     "\x1b[31m",
					     "\n",
					     "\t",
					     "\x7f",
					     "\xc2\x9b",
					     "\xe2\x80\xae",
					     "\xe6\xbc\xa2",
					     "e\xcc\x81",
					     "\xff",
					     "\xc3",
					     "\xed\xa0\x80",
					     "\xf0\x9f\x98\x80",
					     "\xc0\x80",
					     "\xe2\x82\xac",
					     "::",
					     "0" };
	char *text = memory_alloc(most * 6 + 1);

	for (size_t n = random_below(most + 1); n > 0; n--)
		strcat(text, parts[random_below(sizeof parts / sizeof *parts)]);
	return text;
}

static struct site made_up;

struct error *store_site(struct store *store, uint32_t number, const struct site **out)
{
	(void)store;
	if (number >= 1000)
		return error_new("no site %u", number);
	*out = &made_up;
	return NULL;
}

/* The encoding of a code point by the book; 0 bytes when it has none. */
static size_t encode(uint32_t point, unsigned char out[4])
{
	if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return 0;
	if (point < 0x80) {
		out[0] = (unsigned char)point;
		return 1;
	}
	size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
	static const unsigned char leads[] = { 0, 0xc0, 0xe0, 0xf0 };

	out[0] = (unsigned char)(leads[more] | point >> (6 * more));
	for (size_t i = 1; i <= more; i++)
		out[i] = (unsigned char)(0x80 | (point >> (6 * (more - i)) & 0x3f));
	return more + 1;
}

static void test_decode(void **state)
{
	unsigned char bytes[4], again[4];
	uint32_t point;

	(void)state;
	for (uint32_t p = 0; p < 0x110000; p++) {
		size_t n = encode(p, bytes);

		if (n == 0)
			continue;
		assert_int_equal(text_decode((char *)bytes, n, &point), n);
		assert_int_equal(point, p);
		assert_int_equal(text_decode((char *)bytes, n - (n > 1), &point), 1); /* cut short */
	}
	/* What is taken for a character must be the encoding of that character. */
	for (int i = 0; i < 2000000; i++) {
		uint64_t r = random_below(UINT64_MAX);

		memcpy(bytes, &r, 4);
		size_t used = text_decode((char *)bytes, 4, &point);

		if (point == TEXT_BAD && used == 1)
			continue;
		assert_int_equal(encode(point, again), used);
		assert_memory_equal(bytes, again, used);
	}
}

/* Printable, by a list written apart from the one in text.c. */
static void assert_clean(const char *text)
{
	size_t size = strlen(text);

	while (size) {
		uint32_t point;
		size_t used = text_decode(text, size, &point);

		assert_int_not_equal(point, TEXT_BAD);
		assert_true(point >= 0x20 && point != 0x7f && !(point >= 0x80 && point < 0xa0));
		assert_true(point != 0x202e);
		text += used;
		size -= used;
	}
}

static void test_clean_and_cut(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		_cleanup_free_ char *raw = random_bytes(30);
		_cleanup_free_ char *clean = text_clean(raw);
		int width = (int)random_below(40) + 1;
		_cleanup_free_ char *head = text_cut(clean, width, false);
		_cleanup_free_ char *tail = text_cut(clean, width, true);

		assert_clean(clean);
		assert_true(text_width(head) <= width);
		assert_true(text_width(tail) <= width);
		if (text_width(clean) <= width)
			assert_string_equal(head, clean);
	}
	_cleanup_free_ char *head = text_cut("abcdef", 4, false);
	_cleanup_free_ char *tail = text_cut("abcdef", 4, true);
	_cleanup_free_ char *wide = text_cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 4, false);

	assert_string_equal(head, "abc…");
	assert_string_equal(tail, "…def");
	assert_string_equal(wide, "\xe6\xbc\xa2…");
}

static void test_shell(void **state)
{
	_cleanup_free_ char *plain = text_shell("a/b.c"), *quoted = text_shell("it's $x"),
			    *none = text_shell("");

	(void)state;
	assert_string_equal(plain, "a/b.c");
	assert_string_equal(quoted, "'it'\\''s $x'");
	assert_string_equal(none, "''");
}

static void test_json_text(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		_cleanup_free_ char *raw = random_bytes(30);
		json_t *text = answer_text(raw);

		assert_non_null(text);
		_cleanup_free_ char *dumped = json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

		assert_non_null(dumped);
		for (const char *at = dumped; *at; at++)
			assert_true((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80);
		json_decref(text);
	}
	assert_true(json_is_null(answer_text(NULL)));
}

static void test_contexts(void **state)
{
	/* Newest event in the lowest bits, printed last. */
	_cleanup_free_ char *two = words_context(1 << 4 | EVENT_REMOTE_WRITE | EVENT_LOCAL_WRITE << 2, 5);
	_cleanup_free_ char *reads = words_context(1 << 10, 5);
	_cleanup_free_ char *none = words_context(CONTEXT_EMPTY, 5);
	_cleanup_free_ char *eight = words_context(0x8000, 8);
	const struct edge small = { .sink_context = 0x7ff, .source = SITE_NIL };
	const struct edge large = { .sink_context = 1, .source_context = 1 << 12 }, all = { 0 };

	(void)state;
	assert_string_equal(two, "LcWr RmWr");
	assert_string_equal(reads, "LcRd LcRd LcRd LcRd LcRd");
	assert_string_equal(none, "-");
	assert_string_equal(eight, "RmRd LcRd LcRd LcRd LcRd LcRd LcRd LcRd");
	assert_int_equal(words_context_events(&small, 1), 5);
	assert_int_equal(words_context_events(&large, 1), 6);
	assert_int_equal(words_context_events(&all, 1), 8);
	for (unsigned context = 0; context < 0x10000; context++) {
		unsigned above = 0; /* events below the highest 1, counted one by one */

		for (unsigned rest = context; rest > 3; rest >>= 2)
			above++;
		assert_int_equal(context_kept((uint16_t)context),
				 context == 0 || context >= 0x8000 ? 8 : above);
	}
}

/* Splits what was printed into lines and checks each. */
static void assert_fits(char *text, int width)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_clean(line);
		assert_true(text_width(line) <= width);
	}
}

/* A source file of hostile lines, so that excerpts are printed. */
static void write_source(char *path)
{
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	for (int i = 0; i < 20; i++) {
		_cleanup_free_ char *line = random_bytes(100);

		fprintf(file, "%s\n", line);
	}
	fclose(file);
}

static void test_listing_fits(void **state)
{
	char source[] = "/tmp/test_report.XXXXXX";

	(void)state;
	write_source(source);
	for (int i = 0; i < ROUNDS / 10; i++) {
		_cleanup_free_ char *file = random_bytes(60), *function = random_bytes(60),
				    *variable = random_bytes(60);
		struct listing listing = { .width = 80 };
		struct pair pairs[3];
		const struct predecessor before[] = { { 1, SITE_NIL }, { 1, 2 }, { 0, 5000 } };
		const struct edge edges[] = { { 1, 2, 0xffff, 3, true }, { SITE_NIL, 1, 0, 1, false } };
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		made_up = (struct site){ .kind = SITE_WRITE,
					 .line = (uint32_t)random_below(i % 2 ? 50 : 100000),
					 .file = i % 2 ? source : file,
					 .function = function,
					 .variable = variable };
		for (uint32_t k = 0; k < 3; k++)
			pairs[k] = (struct pair){ .kind = (enum pair_kind)(k + 1),
						  .head_site = k,
						  .tail_site = 999 + k,
						  .tail_thread = (uint32_t)random_below(2000),
						  .address = random_below(1ull << 47),
						  .head_loop = { LOOP_NONE, 0, 0 },
						  .tail_loop = { LOOP_NONE, 0, 0 } };
		listing_pairs(&listing, pairs, 3, true);
		listing_predecessors(&listing, before, 3);
		listing_edges(&listing, edges, 2);
		listing_print(&listing, out);
		fclose(out);
		assert_fits(text, 80);
		listing_free(&listing);
		free(text);
	}
	unlink(source);
}

static void test_table_and_plot_fit(void **state)
{
	static const struct grid_column columns[] = { { .title = "run" },
						      { .title = "ended", .gives_way = true },
						      { .title = "n", .right = true },
						      { 0 } };

	(void)state;
	for (int i = 0; i < ROUNDS / 10; i++) {
		struct grid grid = { .columns = columns };
		uint64_t values[50], last = 0;
		char *text = NULL;
		size_t size, n = random_below(50) + 1;
		FILE *out = open_memstream(&text, &size);

		for (int row = 0; row < 5; row++) {
			_cleanup_free_ char *raw = random_bytes(80);

			grid_cell(&grid, "%d", row);
			grid_cell(&grid, "%s", raw);
			grid_cell(&grid, "%llu", (unsigned long long)random_below(100000));
		}
		grid_print(&grid, out, 2, 80);
		grid_free(&grid);
		for (size_t k = 0; k < n; k++)
			values[k] = last += random_below(10000);
		const struct plot_curve curves[] = { { "one", values },
						     { "two", values },
						     { "three", values } };

		plot_print(curves, 3, n, 1, n, out);
		fclose(out);
		assert_fits(text, 80);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_clean_and_cut),
		cmocka_unit_test(test_shell),
		cmocka_unit_test(test_json_text),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_listing_fits),
		cmocka_unit_test(test_table_and_plot_fit),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
