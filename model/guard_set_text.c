/* The text of a guard set (doc/formats.md, "Guard set"): one line for each site, under it
 * the numbers of those that may come before it. Written for people first. The reader takes
 * text of any origin: no number is believed before it was compared with a limit, and
 * nothing is allocated but for lines that are there.
 */
#include "model/guard_set.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TITLE "unsnarl guard set"
#define VERSION 3
#define MOST_BYTES ((size_t)1 << 28)

/* ---- writing ---- */

/* One word, whatever is in it; nothing at all is a dash. */
static void put_word(FILE *out, const char *word)
{
	putc(' ', out);
	if (!*word)
		putc('-', out);
	for (const unsigned char *at = (const unsigned char *)word; *at; at++) {
		bool dash = at == (const unsigned char *)word && *at == '-' && !at[1];

		if (*at <= 0x20 || *at == 0x7f || *at == '\\' || dash)
			fprintf(out, "\\x%02x", *at);
		else
			putc(*at, out);
	}
}

static const struct {
	enum guard_memory memory;
	const char *name;
} memories[] = { { GUARD_MEMORY_LASTING, "lasting" },
		 { GUARD_MEMORY_HEAP, "heap" },
		 { GUARD_MEMORY_STACK, "stack" } };

static void put_memory(FILE *out, uint8_t memory)
{
	const char *between = " in ";

	for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
		if (!(memory & memories[i].memory))
			continue;
		fprintf(out, "%s%s", between, memories[i].name);
		between = "+";
	}
}

static void put_site(FILE *out, const struct guard_set *set, uint32_t number)
{
	const struct guard_site *site = guard_set_site(set, number);

	fprintf(out, "site %u 0x%016" PRIx64 " %s", number, site->id, site_kind_name(site->kind));
	put_word(out, site->file);
	fprintf(out, " %u:%u", site->line, site->column);
	put_word(out, site->function);
	put_word(out, site->variable);
	put_word(out, site->through);
	fprintf(out, " %u/%u size %u grain %u group %u count %" PRIu64, site->rank.which, site->rank.of,
		site->size, site->grain, site->group, site->count);
	put_memory(out, site->memory);
	fprintf(out, "\n  after");
	if (site->any)
		fprintf(out, " any");
	if (site->turn)
		fprintf(out, " turn");
	for (size_t i = 0; i < site->before.n; i++) {
		if (site->before.items[i] == GUARD_NIL)
			fprintf(out, site->own ? " own" : " nil");
		else
			fprintf(out, " %u", site->before.items[i]);
	}
	for (size_t i = 0; i < site->doubted.n; i++) {
		if (site->doubted.items[i] == GUARD_NIL)
			fprintf(out, " ~nil");
		else
			fprintf(out, " ~%u", site->doubted.items[i]);
	}
	putc('\n', out);
}

static void put_rule(FILE *out, const struct guard_rule *rule)
{
	fprintf(out, "rule %s %u %u",
		rule->kind == GUARD_ORDER ? "order"
		: rule->apart             ? "apart"
					  : "atomic",
		rule->first, rule->second);
	for (size_t i = 0; i < rule->others.n; i++)
		fprintf(out, " %u", rule->others.items[i]);
	putc('\n', out);
}

void guard_set_write(FILE *out, const struct guard_set *set)
{
	fprintf(out, TITLE " %d\n", VERSION);
	fprintf(out, "runs %" PRIu64 " %s\n", set->runs, set->converged ? "converged" : "not-converged");
	fprintf(out, "limit %u\n", set->limit_ms);
	fprintf(out, "sites %zu\n", set->sites.n);
	fprintf(out, "# number, id, kind, file, line:column, function, variable, through, which of those "
		     "alike; then who may come before\n");
	for (uint32_t number = 1; number <= set->sites.n; number++)
		put_site(out, set, number);
	for (size_t i = 0; i < set->rules.n; i++)
		put_rule(out, &set->rules.items[i]);
	fprintf(out, "end\n");
}

/* A new file beside the one that is meant, by a name that nobody can have put a link at; with the rights of any
 * file that is made. */
static FILE *open_beside(char *template)
{
	mode_t mask = umask(0);
	int fd = mkostemp(template, O_CLOEXEC);

	umask(mask);
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

struct error *guard_set_try_save(const char *path)
{
	_cleanup_free_ char *fresh = memory_format("%s.new-XXXXXX", path);
	FILE *out = open_beside(fresh);

	if (!out)
		return error_errno(errno, "cannot write %s", path);
	fclose(out);
	unlink(fresh);
	return NULL;
}

struct error *guard_set_save(const char *path, const struct guard_set *set)
{
	_cleanup_free_ char *fresh = memory_format("%s.new-XXXXXX", path);
	FILE *out = open_beside(fresh);

	if (!out)
		return error_errno(errno, "cannot write %s", path);
	guard_set_write(out, set);
	bool bad = ferror(out);

	if (fclose(out) || bad || rename(fresh, path)) {
		struct error *error = error_errno(errno, "cannot write %s", path);

		unlink(fresh);
		return error;
	}
	return NULL;
}

/* ---- reading ---- */

struct text {
	const char *name;
	char *line, *rest; /* of the line: what is not yet read */
	const char *at, *end;
	unsigned number;
};

static struct error *wrong(const struct text *text, const char *what)
{
	return error_new("%s, line %u: %s; is it a guard set that unsnarl learn wrote?", text->name,
			 text->number, what);
}

/* The next line that says something; false at the end. */
static bool next_line(struct text *text)
{
	while (text->at < text->end) {
		const char *stop = memchr(text->at, '\n', (size_t)(text->end - text->at));
		size_t length = (size_t)((stop ? stop : text->end) - text->at);

		free(text->line);
		text->line = memory_alloc(length + 1);
		memcpy(text->line, text->at, length);
		text->rest = text->line;
		text->at += length + (stop != NULL);
		text->number++;
		if (strlen(text->line) == length && *text->line && *text->line != '#')
			return true;
		if (strlen(text->line) != length)
			return false;
	}
	return false;
}

/* The next word of the line, NULL when there is none. */
static char *word(struct text *text)
{
	char *found;

	do
		found = strsep(&text->rest, " ");
	while (found && !*found);
	return found;
}

static bool number_in(const char *digits, uint64_t most, uint64_t *out)
{
	char *end;

	if (!digits || *digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*out = strtoull(digits, &end, 0);
	return !errno && !*end && *out <= most;
}

static bool number(struct text *text, uint64_t most, uint64_t *out)
{
	return number_in(word(text), most, out);
}

static bool keyword(struct text *text, const char *expected)
{
	const char *found = word(text);

	return found && strcmp(found, expected) == 0;
}

/* Two numbers with a sign between them. */
static bool numbers_apart(struct text *text, char between, uint32_t *first, uint32_t *second)
{
	char *both = word(text), *middle = both ? strchr(both, between) : NULL;
	uint64_t a, b;

	if (!middle)
		return false;
	*middle = '\0';
	if (!number_in(both, UINT32_MAX, &a) || !number_in(middle + 1, UINT32_MAX, &b))
		return false;
	*first = (uint32_t)a;
	*second = (uint32_t)b;
	return true;
}

static int hex(char digit)
{
	return digit >= '0' && digit <= '9'   ? digit - '0'
	       : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
					      : -1;
}

/* The next word without its escapes; NULL when it is wrong. */
static char *name(struct text *text)
{
	const char *from = word(text);

	if (!from)
		return NULL;
	char *out = memory_alloc(strlen(from) + 1), *to = out;

	if (strcmp(from, "-") == 0)
		return out;
	for (; *from; from++, to++) {
		*to = *from;
		if (*from != '\\')
			continue;
		if (from[1] != 'x' || hex(from[2]) < 0 || hex(from[3]) < 0 ||
		    !(hex(from[2]) | hex(from[3]))) {
			free(out);
			return NULL;
		}
		*to = (char)(hex(from[2]) << 4 | hex(from[3]));
		from += 3;
	}
	return out;
}

static bool kind_of(const char *word_of_kind, enum site_kind *out)
{
	for (enum site_kind kind = SITE_READ; kind <= SITE_UPDATE; kind++)
		if (word_of_kind && strcmp(word_of_kind, site_kind_name(kind)) == 0) {
			*out = kind;
			return true;
		}
	return false;
}

/* `in` and kinds of memory with + between them, or nothing. */
static bool read_memory(struct text *text, uint8_t *out)
{
	const char *in = word(text);
	char *kinds = in && strcmp(in, "in") == 0 ? word(text) : NULL;

	if (in && !kinds)
		return false;
	for (const char *kind; (kind = strsep(&kinds, "+"));) {
		size_t i = 0;

		while (i < sizeof memories / sizeof *memories && strcmp(kind, memories[i].name) != 0)
			i++;
		if (i == sizeof memories / sizeof *memories)
			return false;
		*out |= (uint8_t)memories[i].memory;
	}
	return !word(text);
}

static bool read_site(struct text *text, struct guard_site *site)
{
	uint64_t size, grain, group;

	if (!number(text, UINT64_MAX, &site->id) || !kind_of(word(text), &site->kind))
		return false;
	site->file = name(text);
	if (!site->file || !numbers_apart(text, ':', &site->line, &site->column))
		return false;
	site->function = name(text);
	site->variable = name(text);
	site->through = name(text);
	if (!site->function || !site->variable || !site->through ||
	    !numbers_apart(text, '/', &site->rank.which, &site->rank.of))
		return false;
	if (!keyword(text, "size") || !number(text, UINT32_MAX, &size) || !keyword(text, "grain") ||
	    !number(text, 8, &grain) || !keyword(text, "group") || !number(text, UINT32_MAX, &group) ||
	    !keyword(text, "count") || !number(text, UINT64_MAX, &site->count))
		return false;
	site->size = (uint32_t)size;
	site->grain = (uint32_t)grain;
	site->group = (uint32_t)group;
	return grain && !(grain & (grain - 1)) && read_memory(text, &site->memory);
}

static bool read_before(struct text *text, uint64_t sites, struct guard_set *set)
{
	uint32_t site = (uint32_t)set->sites.n;

	if (!keyword(text, "after"))
		return false;
	for (const char *next; (next = word(text));) {
		uint64_t before = GUARD_NIL;
		bool doubted = *next == '~';

		next += doubted;
		if (!doubted && strcmp(next, "any") == 0)
			guard_set_site(set, site)->any = true;
		else if (!doubted && strcmp(next, "turn") == 0)
			guard_set_site(set, site)->turn = true;
		else if (!doubted && strcmp(next, "own") == 0)
			guard_set_site(set, site)->own = guard_set_allow(set, site, GUARD_NIL);
		else if (strcmp(next, "nil") != 0 && (!number_in(next, sites, &before) || !before))
			return false;
		else if (doubted)
			guard_set_doubt(set, site, (uint32_t)before);
		else
			guard_set_allow(set, site, (uint32_t)before);
	}
	return true;
}

static bool read_rule(struct text *text, struct guard_set *set)
{
	const char *kind = word(text);
	uint64_t first, second, other;

	if (!kind || !number(text, set->sites.n, &first) || !number(text, set->sites.n, &second) || !first ||
	    !second)
		return false;
	struct guard_rule *rule = VEC_PUSH(&set->rules);

	rule->kind = strcmp(kind, "order") == 0 ? GUARD_ORDER : GUARD_ATOMIC;
	rule->apart = strcmp(kind, "apart") == 0;
	rule->first = (uint32_t)first;
	rule->second = (uint32_t)second;
	for (const char *next; (next = word(text));) {
		if (!number_in(next, set->sites.n, &other) || !other)
			return false;
		*VEC_PUSH(&rule->others) = (uint32_t)other;
	}
	return rule->kind == GUARD_ORDER || rule->apart || strcmp(kind, "atomic") == 0;
}

static struct error *read_head(struct text *text, struct guard_set *set, uint64_t *sites)
{
	uint64_t version, limit;
	const char *state;

	if (!next_line(text) || strncmp(text->line, TITLE " ", strlen(TITLE " ")) != 0)
		return error_new("%s is no guard set: unsnarl learn -o FILE writes one", text->name);
	if (!number_in(text->line + strlen(TITLE " "), UINT32_MAX, &version) || version < 1)
		return wrong(text, "its version is no number");
	if (version > VERSION)
		return error_new("%s is a guard set of version %" PRIu64
				 ", newer than this unsnarl knows; use a "
				 "newer unsnarl",
				 text->name, version);
	if (!next_line(text) || !keyword(text, "runs") || !number(text, UINT64_MAX, &set->runs) ||
	    !(state = word(text)))
		return wrong(text, "a line 'runs N converged' is missing");
	set->converged = strcmp(state, "converged") == 0;
	if (!next_line(text) || !keyword(text, "limit") || !number(text, GUARD_MOST_MS, &limit))
		return wrong(text, "a line 'limit MS' is missing");
	set->limit_ms = (uint32_t)limit;
	if (!next_line(text) || !keyword(text, "sites") || !number(text, GUARD_SITES, sites))
		return wrong(text, "a line 'sites N' is missing, or they are too many");
	return NULL;
}

static struct error *read_all(struct text *text, struct guard_set *set)
{
	uint64_t sites = 0, at;

	TRY(read_head(text, set, &sites));
	while (set->sites.n < sites) {
		if (!next_line(text) || !keyword(text, "site") || !number(text, sites, &at) ||
		    at != set->sites.n + 1)
			return wrong(text, "the next site is missing");
		if (!read_site(text, VEC_PUSH(&set->sites)))
			return wrong(text, "the site is not described as it should be");
		if (!next_line(text) || !read_before(text, sites, set))
			return wrong(text, "who may come before the site is missing");
	}
	while (next_line(text)) {
		const char *key = word(text);

		if (key && strcmp(key, "end") == 0)
			return NULL;
		if (!key || strcmp(key, "rule") != 0 || !read_rule(text, set))
			return wrong(text, "this is neither a rule nor the end");
	}
	return wrong(text, "the end is missing: the file was cut off");
}

/* A site may have been left half read: none of its strings is NULL afterwards. */
static void complete(struct guard_set *set)
{
	for (size_t i = 0; i < set->sites.n; i++) {
		char **all[] = { &set->sites.items[i].file, &set->sites.items[i].function,
				 &set->sites.items[i].variable, &set->sites.items[i].through };

		for (size_t k = 0; k < 4; k++)
			if (!*all[k])
				*all[k] = memory_string("");
	}
}

struct error *guard_set_parse(const char *bytes, size_t size, const char *file, struct guard_set *out)
{
	struct text text = { .name = file, .at = bytes, .end = bytes + size };

	*out = (struct guard_set){ 0 };
	struct error *error = read_all(&text, out);

	free(text.line);
	complete(out);
	if (error)
		guard_set_free(out);
	return error;
}

struct error *guard_set_read(const char *path, struct guard_set *out)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct stat status;

	*out = (struct guard_set){ 0 };
	if (!file || fstat(fileno(file), &status))
		return error_errno(errno, "cannot read the guard set %s", path);
	if (!S_ISREG(status.st_mode) || (size_t)status.st_size > MOST_BYTES)
		return error_new("%s is no guard set: unsnarl learn -o FILE writes one", path);
	_cleanup_free_ char *bytes = memory_alloc((size_t)status.st_size + 1);
	size_t size = fread(bytes, 1, (size_t)status.st_size, file);

	return guard_set_parse(bytes, size, path, out);
}
