/* The guard set as C source, compiled when a guarded program is linked. Rows of bits for
 * sets of a usual size, sorted lists for very large ones.
 */
#include "loom/compile/guard_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 4096u /* sites: rows take 2 MiB then */

struct error *guard_load(const char *path, const char *limit, struct guard_set *out)
{
	char *end;

	TRY(guard_set_read(path, out));
	guard_set_find_idle(out);
	if (!limit)
		return NULL;
	unsigned long ms = strtoul(limit, &end, 10);

	if (*limit < '0' || *limit > '9' || *end || ms > GUARD_MOST_MS) {
		guard_set_free(out);
		return error_new("--limit %s is no number of milliseconds up to %u", limit, GUARD_MOST_MS);
	}
	out->limit_ms = (uint32_t)ms;
	return NULL;
}

/* Only what has to agree among the objects of a program: sites, sets and rules. */
void guard_symbol(const struct guard_set *set, char out[64])
{
	struct guard_set same = *set;

	same.limit_ms = 0;
	snprintf(out, 64, "unsnarl_guard_set_%016" PRIx64, guard_set_hash(&same));
}

/* A C string that is one word in the log; a dash for nothing. */
static void put_string(FILE *out, const char *text)
{
	fprintf(out, "\"%s", *text ? "" : "-");
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at <= 0x20 || *at == 0x7f || *at == '\\')
			fprintf(out, "\\\\x%02x", *at);
		else if (*at == '"' || *at == '?' || *at >= 0x80)
			fprintf(out, "\\%03o", *at);
		else
			putc(*at, out);
	}
	putc('"', out);
}

/* A C string with the same bytes. */
static void put_path(FILE *out, const char *path)
{
	putc('"', out);
	for (const unsigned char *at = (const unsigned char *)path; *at; at++)
		fprintf(out, "\\%03o", *at);
	putc('"', out);
}

static void put_names(FILE *out, const struct guard_set *set)
{
	fprintf(out, "static const struct name names[] = {\n{0, \"-\", \"-\", \"-\", \"-\", 0, 0},\n");
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		const struct guard_site *site = guard_set_site(set, number);

		fprintf(out, "{0x%" PRIx64 "ul, \"%s\", ", site->id, site_kind_name(site->kind));
		put_string(out, site->file);
		fprintf(out, ", ");
		put_string(out, site->function);
		fprintf(out, ", ");
		put_string(out, site->variable);
		fprintf(out, ", %u, %u},\n", site->line, site->column);
	}
	fprintf(out, "};\nstatic const unsigned char any[] = {0");
	for (uint32_t number = 1; number <= set->sites.n; number++)
		fprintf(out, ",%d", guard_set_site(set, number)->any || guard_set_site(set, number)->idle);
	fprintf(out, "};\n");
}

static void put_cells(FILE *out, const struct guard_set *set)
{
	_cleanup_free_ uint32_t *alike = guard_set_alike(set);

	fprintf(out, "static const unsigned char traits[] = {0");
	for (uint32_t number = 1; number <= set->sites.n; number++)
		fprintf(out, ",%d", guard_set_traits(guard_set_site(set, number)));
	fprintf(out, "};\nstatic const unsigned char shifts[] = {0");
	for (uint32_t number = 1; number <= set->sites.n; number++)
		fprintf(out, ",%d", __builtin_ctz(guard_set_site(set, number)->grain));
	fprintf(out, "};\nstatic const unsigned short alike[] = {0");
	for (uint32_t number = 1; number <= set->sites.n; number++)
		fprintf(out, ",%u", alike[number]);
	fprintf(out, "};\n");
}

static void put_rows(FILE *out, const struct guard_set *set, uint32_t words)
{
	_cleanup_free_ uint64_t *row = memory_alloc((words + 1) * sizeof *row);

	fprintf(out, "static const unsigned long rows[] = {\n");
	for (uint32_t number = 0; number <= set->sites.n; number++) {
		memset(row, 0, words * sizeof *row);
		for (size_t i = 0; number && i < guard_set_site(set, number)->before.n; i++) {
			uint32_t before = guard_set_site(set, number)->before.items[i];

			row[before / 64] |= 1ull << before % 64;
		}
		for (uint32_t i = 0; i < words; i++)
			fprintf(out, "0x%" PRIx64 "ul,", row[i]);
		putc('\n', out);
	}
	fprintf(out, "0};\n");
}

static void put_lists(FILE *out, const struct guard_set *set)
{
	size_t start = 0;

	fprintf(out, "static const unsigned short members[] = {\n");
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		for (size_t i = 0; i < guard_set_site(set, number)->before.n; i++)
			fprintf(out, "%u,", guard_set_site(set, number)->before.items[i]);
		putc('\n', out);
	}
	fprintf(out, "0};\nstatic const unsigned starts[] = {0,");
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		fprintf(out, "%zu,", start);
		start += guard_set_site(set, number)->before.n;
	}
	fprintf(out, "%zu};\n", start);
}

static void put_rules(FILE *out, const struct guard_set *set)
{
	fprintf(out, "static const struct rule rules[] = {\n");
	for (size_t i = 0; i < set->rules.n; i++) {
		const struct guard_rule *rule = &set->rules.items[i];

		fprintf(out, "{%d, %d, %u, %u},\n", (int)rule->kind, rule->apart, rule->first, rule->second);
	}
	fprintf(out, "{0, 0, 0, 0}};\n");
}

static size_t put_doubted(FILE *out, const struct guard_set *set)
{
	size_t n = 0;

	fprintf(out, "static const unsigned doubted[] = {\n");
	for (uint32_t number = 1; number <= set->sites.n; number++)
		for (size_t i = 0; i < guard_set_site(set, number)->doubted.n; i++, n++)
			fprintf(out, "%uu,", number << 16 | guard_set_site(set, number)->doubted.items[i]);
	fprintf(out, "0};\n");
	return n;
}

/* The types are those of loom/guard/guard.h, which an installation does not have. */
static const char types[] =
	"struct name { unsigned long id; const char *kind, *file, *function, *variable; "
	"unsigned line, column; };\n"
	"struct rule { unsigned short kind, apart, first, second; };\n"
	"struct data { unsigned long hash; unsigned nsites, nrules, limit_us, words; "
	"const unsigned long *rows;\n"
	"const unsigned *starts; const unsigned short *members; const unsigned char "
	"*any, *traits, *shifts; const unsigned short *alike; const struct name *names;\n"
	"const struct rule *rules; const char *log; unsigned ndoubted; const unsigned *doubted; };\n";

void guard_data_write(FILE *out, const struct guard_set *set, const char *log)
{
	uint32_t words = set->sites.n <= ROWS_MOST ? (uint32_t)set->sites.n / 64 + 1 : 0;
	char symbol[64];

	fputs(types, out);
	put_names(out, set);
	put_cells(out, set);
	put_rules(out, set);
	if (words)
		put_rows(out, set, words);
	else
		put_lists(out, set);
	size_t ndoubted = put_doubted(out, set);

	guard_symbol(set, symbol);
	fprintf(out, "const char %s = 1;\n", symbol);
	fprintf(out,
		"static const struct data data = {0x%" PRIx64
		"ul, %zu, %zu, %u, %u, %s, %s, %s, any, traits, shifts, alike, names, "
		"rules, ",
		guard_set_hash(set), set->sites.n, set->rules.n, set->limit_ms * 1000, words,
		words ? "rows" : "0", words ? "0" : "starts", words ? "0" : "members");
	if (log)
		put_path(out, log);
	else
		fprintf(out, "0");
	fprintf(out, ", %zu, doubted};\nconst struct data *unsnarl_guard_data = &data;\n", ndoubted);
}
