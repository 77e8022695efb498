/* Parses command lines by the verbs' tables. Every mistake becomes one sentence
 * that names the argument, says what would be right and, where a name was
 * mistyped, the nearest one there is. The help pages are in options_help.c.
 */
#include "base/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LONGEST_WORD 64

static int min3(int a, int b, int c)
{
	int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edits from a to b, where swapping two neighbouring letters is one edit. */
static int distance(const char *a, const char *b)
{
	int rows[3][LONGEST_WORD + 1];
	int *before = rows[0], *last = rows[1], *row = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na > LONGEST_WORD || nb > LONGEST_WORD)
		return LONGEST_WORD;
	for (size_t j = 0; j <= nb; j++)
		last[j] = (int)j;
	for (size_t i = 1; i <= na; i++) {
		row[0] = (int)i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		int *oldest = before;

		before = last;
		last = row;
		row = oldest;
	}
	return last[nb];
}

const char *options_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	int best_distance = strlen(word) < 6 ? 1 : (int)strlen(word) / 3;

	if (!*word)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		int d = distance(word, names[i]);

		/* A beginning is a good guess however much is missing. */
		if (strlen(word) > 1 && !strncmp(word, names[i], strlen(word)))
			d = 1;
		if (d <= best_distance && d < (int)strlen(names[i])) {
			best_distance = d - 1;
			best = names[i];
		}
	}
	return best;
}

static struct error *unknown(const struct options_page *page, const char *argument, size_t length)
{
	const char *names[64] = { "help" };
	size_t n = 1;
	const char *nearest = NULL;

	if (!strncmp(argument, "--", 2)) {
		_cleanup_free_ char *name = memory_format("%.*s", (int)length - 2, argument + 2);

		for (const struct options_entry *e = page->entries; e && e->name && n < 64; e++)
			names[n++] = e->name;
		nearest = options_nearest(name, names, n);
	}
	if (nearest)
		return error_new("unknown option %.*s, did you mean --%s?", (int)length, argument, nearest);
	return error_new("unknown option %.*s; see unsnarl help %s", (int)length, argument, page->verb);
}

static struct error *parse_number(const struct options_entry *entry, const char *shown, const char *value,
				  uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || *out < entry->low || *out > entry->high)
		return error_new("%s wants a whole number from %llu to %llu, not '%s'", shown,
				 (unsigned long long)entry->low, (unsigned long long)entry->high, value);
	return NULL;
}

static struct error *parse_seconds(const char *shown, const char *value, double *out)
{
	char *end;

	*out = strtod(value, &end);
	if (end == value || *end || !isfinite(*out) || *out < 0 || *out > 1e9)
		return error_new("%s wants a number of seconds such as 10 or 0.5, not '%s'", shown, value);
	return NULL;
}

static char *join(const char *const *words)
{
	char *all = memory_string(words[0]);

	for (size_t i = 1; words[i]; i++) {
		char *longer = memory_format("%s, %s", all, words[i]);

		free(all);
		all = longer;
	}
	return all;
}

static struct error *parse_word(const struct options_entry *entry, const char *shown, const char *value,
				size_t length, unsigned *out)
{
	for (unsigned i = 0; entry->words[i]; i++) {
		if (strlen(entry->words[i]) == length && !strncmp(entry->words[i], value, length)) {
			*out = i;
			return NULL;
		}
	}
	_cleanup_free_ char *all = join(entry->words);

	return error_new("%s knows %s; not '%.*s'", shown, all, (int)length, value);
}

static struct error *parse_words(const struct options_entry *entry, const char *shown, const char *value,
				 unsigned *out)
{
	unsigned set = 0;

	for (const char *at = value;;) {
		size_t length = strcspn(at, ",");
		unsigned place = 0;

		if (length == 3 && !strncmp(at, "all", 3)) {
			while (entry->words[place])
				set |= 1u << place++;
		} else if (length != 4 || strncmp(at, "none", 4)) {
			TRY(parse_word(entry, shown, at, length, &place));
			set |= 1u << place;
		}
		if (!at[length])
			break;
		at += length + 1;
	}
	*out = set;
	return NULL;
}

/* `shown` is the option as the user wrote it, for sentences. */
static struct error *assign(const struct options_entry *entry, const char *shown, const char *value,
			    void *into)
{
	void *place = (char *)into + entry->offset;

	switch (entry->kind) {
	case OPTIONS_FLAG:
		*(bool *)place = true;
		return NULL;
	case OPTIONS_STRING:
		if (!*value)
			return error_new("%s wants a value that is not empty", shown);
		*(const char **)place = value;
		return NULL;
	case OPTIONS_NUMBER:
		return parse_number(entry, shown, value, place);
	case OPTIONS_SECONDS:
		return parse_seconds(shown, value, place);
	case OPTIONS_WORD:
		return parse_word(entry, shown, value, strlen(value), place);
	case OPTIONS_WORDS:
		return parse_words(entry, shown, value, place);
	}
	return error_new("option %s has no kind", shown);
}

static const struct options_entry *find(const struct options_page *page, const char *argument, size_t length)
{
	bool is_long = argument[1] == '-';

	for (const struct options_entry *e = page->entries; e && e->name; e++) {
		if (is_long && strlen(e->name) == length - 2 && !strncmp(e->name, argument + 2, length - 2))
			return e;
		if (!is_long && e->letter && e->letter == argument[1])
			return e;
	}
	return NULL;
}

/* Reads the option at argv[*i], with its value wherever that stands. */
static struct error *parse_one(const struct options_page *page, char **argv, int *i, void *into)
{
	const char *argument = argv[*i];
	bool is_long = argument[1] == '-';
	size_t length = is_long ? strcspn(argument, "=") : 2;
	const struct options_entry *entry = find(page, argument, length);
	const char *value = NULL;

	if (!entry)
		return unknown(page, argument, length);
	_cleanup_free_ char *shown = memory_format("%.*s", (int)length, argument);

	if (argument[length])
		value = argument + length + (is_long ? 1 : 0);
	if (entry->kind == OPTIONS_FLAG)
		return value ? error_new("%s takes no value", shown) : assign(entry, shown, NULL, into);
	if (!value)
		value = entry->bare;
	if (!value && !(value = argv[++*i]))
		return error_new("%s wants a value: %s %s", shown, shown, entry->value);
	return assign(entry, shown, value, into);
}

struct error *options_parse(const struct options_page *page, int argc, char **argv, void *into,
			    char ***operands)
{
	int n = 0, i = 1;

	for (; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (argv[i][0] == '-' && argv[i][1]) {
			if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
				options_help(page, stdout);
				*operands = NULL;
				return NULL;
			}
			TRY(parse_one(page, argv, &i, into));
		} else if (page->program) {
			break;
		} else {
			argv[n++] = argv[i];
		}
	}
	while (i < argc)
		argv[n++] = argv[i++];
	argv[n] = NULL;
	*operands = argv;
	return NULL;
}
