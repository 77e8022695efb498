/* Places and their ranks within a function. */
#include "model/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

bool place_is_access(const struct site *site)
{
	return site->kind == SITE_READ || site->kind == SITE_WRITE || site->kind == SITE_UPDATE;
}

static const char *through_of(const struct site *site)
{
	return site->through ? site->through : "";
}

const char *place_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *place_words(const char *path, uint32_t line, const char *function)
{
	return line ? memory_format("%s:%u", place_file_name(path), line)
		    : memory_string(*function ? function : "a place that is not known");
}

unsigned place_common_folders(const char *a, const char *b)
{
	const char *end_a = a + strlen(a), *end_b = b + strlen(b);
	unsigned folders = 0;

	while (end_a > a && end_b > b && end_a[-1] == end_b[-1]) {
		end_a--;
		end_b--;
		folders += *end_a == '/';
	}
	return folders;
}

const char *place_leaf(const char *variable)
{
	const char *dot = strrchr(variable, '.');

	return dot ? dot + 1 : variable;
}

/* The order of places: those that are alike stand together, by position. */
static int compare_names(const struct site *a, const struct site *b)
{
	int order = strcmp(a->file, b->file);

	order = order ? order : strcmp(a->function, b->function);
	order = order ? order : (int)a->kind - (int)b->kind;
	order = order ? order : strcmp(place_leaf(a->variable), place_leaf(b->variable));
	return order ? order : strcmp(through_of(a), through_of(b));
}

static int compare_positions(const struct site *a, const struct site *b)
{
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

static int compare_places(const void *left, const void *right)
{
	const struct site *a = *(const struct site *const *)left, *b = *(const struct site *const *)right;
	int order = compare_names(a, b);

	return order ? order : compare_positions(a, b);
}

bool place_alike(const struct site *a, const struct site *b)
{
	return compare_names(a, b) == 0;
}

bool place_same(const struct site *a, const struct site *b)
{
	return compare_names(a, b) == 0 && compare_positions(a, b) == 0;
}

void place_ranks(const struct site *sites, size_t n, struct place_rank *out)
{
	_cleanup_free_ const struct site **order = memory_alloc((n + 1) * sizeof *order);
	size_t accesses = 0;

	memset(out, 0, n * sizeof *out);
	for (size_t i = 0; i < n; i++)
		if (place_is_access(&sites[i]))
			order[accesses++] = &sites[i];
	qsort(order, accesses, sizeof *order, compare_places);
	for (size_t first = 0, end; first < accesses; first = end) {
		uint32_t which = 0;

		for (end = first; end < accesses && place_alike(order[first], order[end]); end++) {
			which += end == first || !place_same(order[end - 1], order[end]);
			out[order[end] - sites].which = which;
		}
		for (size_t i = first; i < end; i++)
			out[order[i] - sites].of = which;
	}
}

uint64_t place_id(const struct site *site, struct place_rank rank)
{
	uint32_t numbers[2] = { (uint32_t)site->kind, rank.which };
	uint64_t id = hash_string(HASH_START, place_file_name(site->file));

	id = hash_string(id, site->function);
	id = hash_string(id, place_leaf(site->variable));
	id = hash_string(id, through_of(site));
	return hash_bytes(id, numbers, sizeof numbers);
}
