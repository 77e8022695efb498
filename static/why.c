/* Tells of one pair of lines what the scan made of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "static/scanner.h"

struct line {
	char *file;
	uint32_t line;
};

static struct error *read_line(const char *text, struct line *out)
{
	const char *colon = strrchr(text, ':');
	char *end;
	unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon == text || !line || line > UINT32_MAX || *end)
		return error_new("a place is FILE:LINE, as queue.c:41; not %s", text);
	*out = (struct line){ memory_format("%.*s", (int)(colon - text), text), (uint32_t)line };
	return NULL;
}

/* A file may be named by its last parts. */
static bool is_at(const struct scanner *scanner, uint32_t access, const struct line *line)
{
	const struct statement *at = &scanner->statements.items[scanner->statement_of[access]];
	size_t length = strlen(line->file), whole = strlen(at->file);

	if (at->line != line->line || whole < length || strcmp(at->file + whole - length, line->file) != 0)
		return false;
	return whole == length || at->file[whole - length - 1] == '/';
}

static char *told(char *text, char *more)
{
	char *both = memory_format("%s%s\n", text, more);

	free(text);
	free(more);
	return both;
}

static char *tell_pair(struct scanner *scanner, uint32_t a, uint32_t b, char *text)
{
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];
	const struct statement *one = &scanner->statements.items[scanner->statement_of[a]];
	const struct statement *two = &scanner->statements.items[scanner->statement_of[b]];
	_cleanup_free_ char *pair =
		memory_format("%s of %s and %s of %s", site_kind_name(left->kind),
			      *one->variable ? one->variable : "memory without a name",
			      site_kind_name(right->kind), *two->variable ? two->variable : "the like");
	uint32_t roots[2];
	enum pruned why;

	if (left->kind == SITE_READ && right->kind == SITE_READ)
		return told(text, memory_format("%s: neither writes", pair));
	if (accesses_meet(&scanner->accesses, left, right) == SOLVER_NONE)
		return told(text, memory_format("%s: they never touch the same location", pair));
	if (!pairs_parallel(scanner, a, b, roots, &why))
		return told(text, memory_format("%s: left out, %s", pair, pruned_words(why)));
	_cleanup_free_ char *parallel = score_parallel(scanner, roots);
	uint32_t lock = locks_common(&left->held, &right->held);

	text = told(text, memory_format("%s: a candidate, %s", pair, parallel));
	if (lock == WHOLE_NONE)
		return text;
	const char *name = scanner_lock(scanner, lock);

	return told(text, memory_format("  both hold %s, so that it is a matter of order alone", name));
}

static char *tell_all(struct scanner *scanner, const struct line *first, const struct line *second,
		      bool *found_first, bool *found_second)
{
	char *text = memory_string("");
	struct map seen = { 0 };

	for (uint32_t a = 0; a < scanner->accesses.items.n; a++) {
		*found_second |= is_at(scanner, a, second);
		if (!is_at(scanner, a, first))
			continue;
		*found_first = true;
		for (uint32_t b = 0; b < scanner->accesses.items.n; b++) {
			bool fresh;

			if (!is_at(scanner, b, second))
				continue;
			map_put(&seen, (uint64_t)scanner->statement_of[a] << 32 | scanner->statement_of[b],
				&fresh);
			if (fresh)
				text = tell_pair(scanner, a, b, text);
		}
	}
	map_free(&seen);
	return text;
}

struct error *static_why(const struct scan_options *options, const char *first, const char *second,
			 char **out)
{
	_cleanup_(scanner_free) struct scanner scanner = { 0 };
	struct line lines[2] = { 0 };
	bool found[2] = { 0 };
	struct error *error = read_line(first, &lines[0]);

	if (!error)
		error = read_line(second, &lines[1]);
	if (!error)
		error = scanner_start(&scanner, options);
	if (!error) {
		*out = tell_all(&scanner, &lines[0], &lines[1], &found[0], &found[1]);
		for (int i = 0; i < 2; i++)
			if (!found[i])
				*out = told(*out, memory_format("%s: nothing there touches memory that "
								"several threads can reach",
								i ? second : first));
	}
	free(lines[0].file);
	free(lines[1].file);
	return error;
}
