/* Guard logs: reading, adding up, findings, relaxing (AI, section 5.6). */
#include "analysis/invariant/violations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_BYTES ((size_t)1 << 30)

static void access_free(struct violation_access *access)
{
	free(access->file);
	free(access->function);
	free(access->variable);
}

void violations_free(struct violations *violations)
{
	for (size_t i = 0; i < violations->list.n; i++) {
		access_free(&violations->list.items[i].access);
		access_free(&violations->list.items[i].before);
	}
	VEC_FREE(&violations->list);
}

/* ---- one line ---- */

struct line {
	char *rest;
};

static const char *word(struct line *line)
{
	return line->rest ? strsep(&line->rest, " ") : NULL;
}

static bool is_next(struct line *line, const char *expected)
{
	const char *found = word(line);

	return found && strcmp(found, expected) == 0;
}

static bool number(struct line *line, uint64_t *out)
{
	const char *digits = word(line);
	char *end;

	if (!digits || *digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*out = strtoull(digits, &end, 0);
	return !errno && !*end;
}

static int hex(char digit)
{
	return digit >= '0' && digit <= '9'   ? digit - '0'
	       : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
					      : -1;
}

/* A word without its escapes; a dash is nothing. */
static char *name(struct line *line)
{
	const char *from = word(line);
	char *out = memory_string(from && strcmp(from, "-") != 0 ? from : ""), *to = out;

	for (const char *at = out; *at; at++, to++) {
		bool escape = at[0] == '\\' && at[1] == 'x' && hex(at[2]) >= 0 && hex(at[3]) >= 0 &&
			      (hex(at[2]) | hex(at[3]));

		*to = escape ? (char)(hex(at[2]) << 4 | hex(at[3])) : *at;
		at += escape ? 3 : 0;
	}
	*to = '\0';
	return out;
}

static bool read_access(struct line *line, struct violation_access *out)
{
	uint64_t thread, at, column;

	if (!is_next(line, "thread") || !number(line, &thread) || !is_next(line, "site") ||
	    !number(line, &out->id) || !out->id)
		return false;
	const char *kind = word(line);

	for (enum site_kind k = SITE_READ; kind && k <= SITE_UPDATE; k++)
		if (strcmp(kind, site_kind_name(k)) == 0)
			out->kind = k;
	out->file = name(line);
	char *position = line->rest ? strsep(&line->rest, " ") : NULL;
	char *colon = position ? strchr(position, ':') : NULL;

	if (!colon || !out->kind)
		return false;
	*colon = '\0';
	struct line numbers = { .rest = position }, second = { .rest = colon + 1 };

	if (!number(&numbers, &at) || !number(&second, &column) || at > UINT32_MAX || column > UINT32_MAX)
		return false;
	out->line = (uint32_t)at;
	out->column = (uint32_t)column;
	out->thread = (uint32_t)thread;
	out->function = name(line);
	out->variable = name(line);
	return true;
}

static bool read_outcome(struct line *line, struct violation *out)
{
	const char *outcome = word(line);
	uint64_t waited, times;

	if (!outcome || !is_next(line, "waited") || !number(line, &waited) || !is_next(line, "times") ||
	    !number(line, &times) || times > UINT32_MAX)
		return false;
	out->longest_s = out->waited_s = (double)waited / 1e6;
	if (strcmp(outcome, "resolved") == 0)
		out->resolved = times;
	else if (strcmp(outcome, "unresolved") == 0)
		out->unresolved = times;
	else if (strcmp(outcome, "unfinished") == 0)
		out->unfinished = times;
	else
		return false;
	return true;
}

static bool read_how(struct line *line, enum violation_how *out)
{
	static const char *const words[] = { [VIOLATION_AGAIN] = "again",
					     [VIOLATION_SELDOM] = "seldom",
					     [VIOLATION_INSIDE] = "inside",
					     [VIOLATION_EARLY] = "early" };

	for (enum violation_how how = VIOLATION_AGAIN; line->rest && how <= VIOLATION_EARLY; how++)
		if (strcmp(line->rest, words[how]) == 0)
			*out = how;
	return !line->rest || *out != VIOLATION_AFTER;
}

static bool read_line(char *text, struct violation *out)
{
	struct line line = { .rest = text };
	uint64_t version, pid;
	char *end;

	if (!is_next(&line, "violation") || !number(&line, &version) || version != 1)
		return false;
	const char *time = word(&line);

	out->first = out->last = time ? strtod(time, &end) : 0;
	if (!time || end == time || *end || !is_next(&line, "pid") || !number(&line, &pid) ||
	    !is_next(&line, "set") || !number(&line, &out->set) || !read_outcome(&line, out) ||
	    !read_access(&line, &out->access) || !is_next(&line, "after"))
		return false;
	bool nobody =
		line.rest && strncmp(line.rest, "nobody", 6) == 0 && (!line.rest[6] || line.rest[6] == ' ');

	if (nobody ? !is_next(&line, "nobody") : !read_access(&line, &out->before))
		return false;
	return read_how(&line, &out->how);
}

/* ---- many lines ---- */

static void merge(struct violations *all, struct violation *fresh)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct violation *known = &all->list.items[i];

		if (known->access.id != fresh->access.id || known->before.id != fresh->before.id ||
		    known->how != fresh->how)
			continue;
		known->resolved += fresh->resolved;
		known->unresolved += fresh->unresolved;
		known->unfinished += fresh->unfinished;
		known->waited_s += fresh->waited_s;
		known->longest_s = fresh->longest_s > known->longest_s ? fresh->longest_s : known->longest_s;
		known->first = fresh->first < known->first ? fresh->first : known->first;
		known->last = fresh->last > known->last ? fresh->last : known->last;
		access_free(&fresh->access);
		access_free(&fresh->before);
		return;
	}
	*VEC_PUSH(&all->list) = *fresh;
}

void violations_parse(const char *text, size_t size, struct violations *out)
{
	for (const char *at = text, *end = text + size, *stop; at < end; at = stop + 1) {
		struct violation violation = { 0 };

		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			stop = end;
		_cleanup_free_ char *line = memory_alloc((size_t)(stop - at) + 1);

		memcpy(line, at, (size_t)(stop - at));
		if (stop == at || *at == '#')
			continue;
		if (read_line(line, &violation)) {
			merge(out, &violation);
		} else {
			out->damaged++;
			access_free(&violation.access);
			access_free(&violation.before);
		}
	}
}

struct error *violations_read(const char *path, struct violations *out)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct stat status;

	if (!file || fstat(fileno(file), &status))
		return error_errno(
			errno, "cannot read the log %s (it comes into being with the first violation)", path);
	if (!S_ISREG(status.st_mode) || (size_t)status.st_size > MOST_BYTES)
		return error_new("%s is no log of a guarded program, or too large", path);
	_cleanup_free_ char *text = memory_alloc((size_t)status.st_size + 1);
	size_t size = fread(text, 1, (size_t)status.st_size, file), before = out->list.n;
	uint64_t damaged = out->damaged;

	violations_parse(text, size, out);
	if (size && out->list.n == before && out->damaged > damaged && !strstr(text, "violation 1 "))
		return error_new("%s is no log of a guarded program", path);
	return NULL;
}

static uint64_t times(const struct violation *violation)
{
	return violation->resolved + violation->unresolved + violation->unfinished;
}

static int by_times(const void *left, const void *right)
{
	uint64_t a = times(left), b = times(right);

	return a < b ? 1 : a > b ? -1 : 0;
}

void violations_sort(struct violations *violations)
{
	if (violations->list.n)
		qsort(violations->list.items, violations->list.n, sizeof *violations->list.items, by_times);
}

struct error *violations_read_all(char *const *paths, struct violations *out)
{
	for (char *const *path = paths; *path; path++)
		TRY(violations_read(*path, out));
	violations_sort(out);
	return NULL;
}

/* ---- findings ---- */

static void add_access(struct finding *finding, const struct violation_access *from, uint32_t thread)
{
	const struct site site = { .kind = from->kind,
				   .line = from->line,
				   .column = from->column,
				   .function = from->function,
				   .file = from->file,
				   .variable = from->variable };

	finding_add_access(&finding->accesses, FINDING_NO_SITE, &site)->thread = thread;
	finding_add_variable(finding, from->variable);
}

void violations_findings(const struct violations *violations, struct findings *out)
{
	for (size_t i = 0; i < violations->list.n; i++) {
		const struct violation *violation = &violations->list.items[i];
		struct finding *finding = VEC_PUSH(out);
		bool nobody = !violation->before.id, early = violation->how == VIOLATION_EARLY;

		*finding = (struct finding){ .rank = (unsigned)i + 1,
					     .class = nobody || early ? FINDING_ORDER : FINDING_ATOMICITY,
					     .method = memory_string("guard"),
					     .score = (double)times(violation) /
						      (double)times(&violations->list.items[0]) };
		if (!nobody && !early)
			add_access(finding, &violation->before, violation->before.thread);
		add_access(finding, &violation->access, violation->access.thread);
		if (early && !nobody)
			add_access(finding, &violation->before, violation->before.thread);
	}
}

/* What the set has already was held up for what the thread itself did last: nobody at all may have been there, or the
 * thread itself. */
static bool widen_own(struct guard_set *set, uint32_t number, uint32_t before)
{
	struct guard_site *site = guard_set_site(set, number);
	bool nobody = site->own && before == GUARD_NIL, itself = site->turn;

	site->own &= !nobody;
	site->turn = false;
	return nobody || itself;
}

static bool is_ruled(const struct violation *violation)
{
	return violation->how == VIOLATION_INSIDE || violation->how == VIOLATION_EARLY;
}

struct relaxed violations_relax(const struct violations *violations, struct guard_set *set, bool held_too)
{
	struct relaxed relaxed = { .violations = violations->list.n };

	for (size_t i = 0; i < violations->list.n; i++) {
		const struct violation *violation = &violations->list.items[i];
		uint32_t number_of = guard_set_find(set, violation->access.id);
		uint32_t before =
			violation->before.id ? guard_set_find(set, violation->before.id) : GUARD_NIL;

		if (!number_of || (violation->before.id && !before))
			relaxed.unknown++;
		else if (is_ruled(violation))
			relaxed.ruled++;
		else if (!violation->unresolved && !held_too)
			relaxed.held++;
		else
			relaxed.added +=
				guard_set_allow(set, number_of, before) || widen_own(set, number_of, before);
	}
	return relaxed;
}
