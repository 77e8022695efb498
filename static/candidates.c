/* What the rest of unsnarl does with the answers of a scan: names, order, release.
 * Nothing of LLVM here. */
#include <stdlib.h>
#include <string.h>

#include "static/static.h"

/* ---- ranking ---- */

static int by_score(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->observed != right->observed)
		return left->observed ? -1 : 1;
	if (left->score != right->score)
		return left->score < right->score ? 1 : -1;
	int files = strcmp(left->accesses.items[0].file, right->accesses.items[0].file);

	if (files)
		return files;
	if (left->accesses.items[0].line != right->accesses.items[0].line)
		return left->accesses.items[0].line < right->accesses.items[0].line ? -1 : 1;
	return (left->id > right->id) - (left->id < right->id);
}

void scan_sort(struct scan *scan)
{
	qsort(scan->candidates.items, scan->candidates.n, sizeof *scan->candidates.items, by_score);
	for (size_t i = 0; i < scan->candidates.n; i++)
		scan->candidates.items[i].rank = (unsigned)i + 1;
}

void scan_rank(struct scan *scan, scan_observed *observed, void *context)
{
	for (size_t i = 0; i < scan->candidates.n; i++) {
		struct candidate *candidate = &scan->candidates.items[i];

		candidate->observed = true;
		for (size_t a = 0; a < candidate->accesses.n; a++)
			if (candidate->accesses.items[a].kind != SITE_SYNC)
				candidate->observed &= observed(context, candidate->accesses.items[a].file,
								candidate->accesses.items[a].line);
		/* Never seen shared: behind all that was, in the same order. */
		if (!candidate->observed)
			candidate->score /= 4;
	}
	scan_sort(scan);
}

/* ---- names that users give ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0 &&
	       (length == tail || text[length - tail - 1] == '/');
}

static bool has_line(const struct candidate *candidate, const char *place)
{
	for (size_t i = 0; i < candidate->accesses.n; i++) {
		_cleanup_free_ char *at = memory_format("%s:%u", candidate->accesses.items[i].file,
							candidate->accesses.items[i].line);

		if (ends_with(at, place))
			return true;
	}
	return false;
}

bool candidate_is(const struct candidate *candidate, const char *name)
{
	const char *comma = strchr(name, ',');
	char *end;

	if (comma) {
		_cleanup_free_ char *first = memory_format("%.*s", (int)(comma - name), name);

		return has_line(candidate, first) && has_line(candidate, comma + 1);
	}
	if (!strncmp(name, "0x", 2))
		return strtoull(name, &end, 16) == candidate->id && !*end;
	return strtoul(name, &end, 10) == candidate->rank && !*end;
}

/* ---- places to hook ---- */

/* An access alone comes first, then the same with the locks that were taken for it, outer ones first. */
static void add_part(struct build_site *site, const struct scan_instruction *part, uint32_t lock, bool alone)
{
	if (part->lock == UINT32_MAX) {
		*VEC_PUSH(&site->parts) = (struct build_part){ part->instruction, UINT32_MAX, false };
		return;
	}
	for (size_t i = 0; i < site->parts.n; i++) {
		struct build_part *known = &site->parts.items[i];

		if (known->instruction == part->instruction &&
		    (alone ? known->hoisted == UINT32_MAX : part->lock == lock)) {
			known->hoisted = part->section;
			known->alone = alone;
		}
	}
}

/* Does one side hold locks and the other none? */
static bool holds_alone(const struct candidate *candidate, const struct candidate_access *access)
{
	bool alone = *access->locks && candidate->kind != CANDIDATE_DEADLOCK;

	for (size_t i = 0; i < candidate->accesses.n; i++)
		alone &= candidate->accesses.items[i].thread == access->thread ||
			 !*candidate->accesses.items[i].locks;
	for (size_t i = 0; i < candidate->others.n; i++)
		alone &= candidate->others.items[i].thread == access->thread ||
			 !*candidate->others.items[i].locks;
	return alone;
}

static void add_site(const struct scan *scan, const struct candidate *candidate,
		     const struct candidate_access *access, struct build_sites *out)
{
	bool alone = holds_alone(candidate, access);
	struct build_site site = { .kind = access->kind, .frees = access->frees, .thread = access->thread };

	for (size_t i = 0; i < scan->parts.n && access->statement != UINT32_MAX; i++) {
		const struct scan_instruction *part = &scan->parts.items[i];

		if (part->statement == access->statement)
			add_part(&site, part, access->lock, alone);
	}
	if (!site.parts.n)
		*VEC_PUSH(&site.parts) = (struct build_part){ access->instruction, UINT32_MAX, false };
	/* Both threads may do the same at one line. */
	for (size_t i = 0; i < out->n; i++)
		if (out->items[i].parts.items[0].instruction == site.parts.items[0].instruction &&
		    out->items[i].kind == site.kind) {
			VEC_FREE(&site.parts);
			return;
		}
	*VEC_PUSH(out) = site;
}

void build_sites_of(const struct scan *scan, const struct candidate *candidate, size_t most,
		    struct build_sites *out)
{
	bool locks = candidate->kind == CANDIDATE_DEADLOCK;

	/* Of a circle, only the locks that are taken while another is held: the last two. */
	for (size_t i = locks ? candidate->accesses.n / 2 : 0; i < candidate->accesses.n && out->n < most;
	     i++)
		add_site(scan, candidate, &candidate->accesses.items[i], out);
	for (size_t i = 0; i < candidate->others.n && out->n < most; i++)
		add_site(scan, candidate, &candidate->others.items[i], out);
}

void build_sites_free(struct build_sites *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		VEC_FREE(&sites->items[i].parts);
	VEC_FREE(sites);
}

/* ---- release ---- */

static void access_free(struct candidate_access *access)
{
	free(access->file);
	free(access->function);
	free(access->variable);
	free(access->through);
	free(access->root);
	free(access->locks);
}

void candidate_free(struct candidate *candidate)
{
	for (size_t i = 0; i < candidate->accesses.n; i++)
		access_free(&candidate->accesses.items[i]);
	for (size_t i = 0; i < candidate->others.n; i++)
		access_free(&candidate->others.items[i]);
	for (size_t i = 0; i < candidate->notes.n; i++)
		free(candidate->notes.items[i].lock);
	VEC_FREE(&candidate->accesses);
	VEC_FREE(&candidate->others);
	VEC_FREE(&candidate->notes);
	free(candidate->variable);
}

void pairs_told_free(struct pairs_told *told)
{
	for (size_t i = 0; i < told->pairs.n; i++) {
		free(told->pairs.items[i].variables[0]);
		free(told->pairs.items[i].variables[1]);
		free(told->pairs.items[i].lock);
	}
	VEC_FREE(&told->pairs);
}

void scan_free(struct scan *scan)
{
	for (size_t i = 0; i < scan->candidates.n; i++)
		candidate_free(&scan->candidates.items[i]);
	for (size_t i = 0; i < scan->roots.n; i++)
		free(scan->roots.items[i]);
	for (size_t i = 0; i < scan->skipped.n; i++)
		free(scan->skipped.items[i]);
	VEC_FREE(&scan->candidates);
	VEC_FREE(&scan->roots);
	VEC_FREE(&scan->skipped);
	VEC_FREE(&scan->parts);
}

void slice_report_free(struct slice_report *report)
{
	for (size_t i = 0; i < report->lines.n; i++)
		free(report->lines.items[i].file);
	VEC_FREE(&report->lines);
}
