/* What the scan made of two lines, pair by pair. */
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

static char *variable_of(const struct scanner *scanner, uint32_t access)
{
	return memory_string(scanner->statements.items[scanner->statement_of[access]].variable);
}

static struct pair_told judge_pair(struct scanner *scanner, uint32_t a, uint32_t b)
{
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];
	struct pair_told told = {
		.verdict = PAIR_CANDIDATE,
		.kinds = { left->kind, right->kind },
		.variables = { variable_of(scanner, a), variable_of(scanner, b) },
	};
	uint32_t roots[2];

	if (left->kind == SITE_READ && right->kind == SITE_READ)
		told.verdict = PAIR_READS;
	else if (accesses_meet(&scanner->accesses, left, right) == SOLVER_NONE)
		told.verdict = PAIR_ELSEWHERE;
	else if (!pairs_parallel(scanner, a, b, roots, &told.rule))
		told.verdict = PAIR_PRUNED;
	if (told.verdict != PAIR_CANDIDATE)
		return told;
	uint32_t lock = locks_common(&left->held, &right->held);

	told.parallel = score_parallel(scanner, roots);
	told.lock = lock == WHOLE_NONE ? NULL : memory_string(scanner_lock(scanner, lock));
	return told;
}

static void judge_all(struct scanner *scanner, const struct line lines[2], struct pairs_told *out)
{
	struct map seen = { 0 };

	for (uint32_t a = 0; a < scanner->accesses.items.n; a++) {
		out->found[1] |= is_at(scanner, a, &lines[1]);
		if (!is_at(scanner, a, &lines[0]))
			continue;
		out->found[0] = true;
		for (uint32_t b = 0; b < scanner->accesses.items.n; b++) {
			bool fresh;

			if (!is_at(scanner, b, &lines[1]))
				continue;
			map_put(&seen, (uint64_t)scanner->statement_of[a] << 32 | scanner->statement_of[b],
				&fresh);
			if (fresh)
				*VEC_PUSH(&out->pairs) = judge_pair(scanner, a, b);
		}
	}
	map_free(&seen);
}

struct error *static_why(const struct scan_options *options, const char *const places[2],
			 struct pairs_told *out)
{
	_cleanup_(scanner_free) struct scanner scanner = { 0 };
	struct line lines[2] = { 0 };
	struct error *error = read_line(places[0], &lines[0]);

	if (!error)
		error = read_line(places[1], &lines[1]);
	if (!error)
		error = scanner_start(&scanner, options);
	if (!error)
		judge_all(&scanner, lines, out);
	free(lines[0].file);
	free(lines[1].file);
	return error;
}
