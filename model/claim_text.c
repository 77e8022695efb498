/* The text of a claim (doc/formats.md, "Claim"): a title, its kind, one line per role and
 * one per step, `end`. The reader takes text of any origin: no number is used before it
 * was compared with its limit.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/claim.h"
#include "model/site.h"

#define TITLE "unsnarl claim"
#define VERSION 2
#define MOST_BYTES ((size_t)1 << 16)

static const char *const kinds[CLAIM_KINDS] = { "none",          "atomic",      "order",      "order-each",
						"order-last",    "order-once",  "look-again", "locks",
						"missed-signal", "taken-signal" };
static const char *const uses[CLAIM_USES] = { "none", "forbid", "force", "others-first", "group-first" };

static void put_sites(FILE *out, const uint64_t *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, " 0x%016" PRIx64, sites[i]);
}

static void put_place(FILE *out, const struct site *site)
{
	if (!site)
		return;
	const char *slash = strrchr(site->file, '/');

	fprintf(out, "  # ");
	for (const char *at = slash ? slash + 1 : site->file; *at; at++)
		putc(isgraph((unsigned char)*at) ? *at : '?', out);
	fprintf(out, ":%u", site->line);
}

void claim_write(FILE *out, const struct claim *claim, const struct site *(*find)(void *, uint64_t),
		 void *context)
{
	fprintf(out, TITLE " %d\nkind %s\nuse %s\n", VERSION,
		kinds[claim->kind < CLAIM_KINDS ? claim->kind : 0],
		uses[claim->use < CLAIM_USES ? claim->use : 0]);
	for (uint32_t i = 0; i < claim->nroles && i < CLAIM_ROLES; i++) {
		fprintf(out, "role reach %" PRIu32 " linger %" PRIu32 " doors", claim->roles[i].reach,
			claim->roles[i].linger);
		put_sites(out, claim->roles[i].doors, claim->roles[i].ndoors);
		fprintf(out, "\nexits");
		put_sites(out, claim->roles[i].exits, claim->roles[i].nexits);
		fprintf(out, "%s%s\n", claim->roles[i].passes_doors ? "\npasses doors" : "",
			claim->roles[i].many_locks ? "\nmany locks" : "");
	}
	for (uint32_t i = 0; i < claim->nsteps && i < CLAIM_STEPS; i++) {
		const struct claim_step *step = &claim->steps[i];

		fprintf(out,
			"step role %" PRIu32 " location %" PRIu32 " thread %" PRIu32 " occurrence %" PRIu32
			" write %" PRIu32 " sites",
			step->role, step->location, step->thread, step->occurrence, step->write);
		put_sites(out, step->sites, step->nsites);
		put_place(out, find && step->nsites ? find(context, step->sites[0]) : NULL);
		putc('\n', out);
	}
	fprintf(out, "end\n");
}

char *claim_text(const struct claim *claim)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		claim_write(out, claim, NULL, NULL);
		fclose(out);
	}
	return text ? text : memory_string("");
}

/* ---- reading ---- */

struct text {
	char *rest; /* of the copy, cut up as it is read */
	size_t line;
	const char *name;
};

static struct error *wrong(const struct text *text, const char *what)
{
	return error_new("%s, line %zu: %s; it is no claim that can be forced or forbidden", text->name,
			 text->line, what);
}

/* The next line that is not empty and no comment, without what stands behind '#'; NULL at the end. */
static char *next_line(struct text *text)
{
	while (*text->rest) {
		char *line = text->rest;
		size_t length = strcspn(line, "\n");

		text->rest = line + length + (line[length] == '\n');
		line[length] = '\0';
		line[strcspn(line, "#\r")] = '\0';
		text->line++;
		line += strspn(line, " \t");
		if (*line)
			return line;
	}
	text->line++;
	return NULL;
}

static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	size_t length = strcspn(word, " \t");

	*line = word + length;
	if (**line)
		*(*line)++ = '\0';
	return word;
}

static bool number_of(const char *word, uint64_t most, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*word))
		return false;
	errno = 0;
	*out = strtoull(word, &end, strncmp(word, "0x", 2) ? 10 : 16);
	return !*end && !errno && *out <= most;
}

/* A name and its number. */
static bool get_field(char **line, const char *name, uint32_t most, uint32_t *out)
{
	uint64_t value;

	if (strcmp(next_word(line), name) || !number_of(next_word(line), most, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

static bool get_list(char **line, uint32_t most, uint64_t *sites, uint32_t *n)
{
	for (const char *word = next_word(line); *word; word = next_word(line))
		if (*n == most || !number_of(word, UINT64_MAX, &sites[(*n)++]))
			return false;
	return true;
}

static bool get_sites(char **line, const char *name, uint32_t most, uint64_t *sites, uint32_t *n)
{
	return !strcmp(next_word(line), name) && get_list(line, most, sites, n);
}

static bool get_step(char *line, struct claim_step *step)
{
	return get_field(&line, "role", CLAIM_ROLES - 1, &step->role) &&
	       get_field(&line, "location", CLAIM_STEPS, &step->location) &&
	       get_field(&line, "thread", UINT32_MAX, &step->thread) &&
	       get_field(&line, "occurrence", UINT32_MAX, &step->occurrence) &&
	       get_field(&line, "write", 1, &step->write) &&
	       get_sites(&line, "sites", CLAIM_SITES, step->sites, &step->nsites);
}

static bool get_role(char *line, struct claim_role *role)
{
	return get_field(&line, "reach", UINT32_MAX, &role->reach) &&
	       get_field(&line, "linger", UINT32_MAX, &role->linger) &&
	       get_sites(&line, "doors", CLAIM_DOORS, role->doors, &role->ndoors);
}

static bool get_name(char *line, const char *const *names, uint32_t n, uint32_t *out)
{
	const char *word = next_word(&line);

	for (*out = 0; *out < n; ++*out)
		if (!strcmp(names[*out], word))
			return !*next_word(&line);
	return false;
}

static struct error *get_line(const struct text *text, char *line, struct claim *out)
{
	const char *word = next_word(&line);

	if (!strcmp(word, "kind"))
		return get_name(line, kinds, CLAIM_KINDS, &out->kind)
			       ? NULL
			       : wrong(text, "kinds are atomic, order, order-each, order-last, order-once, "
					     "look-again, locks, missed-signal and taken-signal");
	if (!strcmp(word, "use"))
		return get_name(line, uses, CLAIM_USES, &out->use)
			       ? NULL
			       : wrong(text, "uses are none, forbid, force, others-first and group-first");
	if (!strcmp(word, "role"))
		return out->nroles < CLAIM_ROLES && get_role(line, &out->roles[out->nroles++])
			       ? NULL
			       : wrong(text, "not a role (reach N linger N doors SITE…), or one too many");
	if (!strcmp(word, "exits") && out->nroles) {
		struct claim_role *role = &out->roles[out->nroles - 1];

		return get_list(&line, CLAIM_EXITS, role->exits, &role->nexits)
			       ? NULL
			       : wrong(text, "not sites, or too many");
	}
	if (!strcmp(word, "passes") && out->nroles) {
		out->roles[out->nroles - 1].passes_doors = 1;
		return !strcmp(next_word(&line), "doors") && !*next_word(&line)
			       ? NULL
			       : wrong(text, "it is 'passes doors'");
	}
	if (!strcmp(word, "many") && out->nroles) {
		out->roles[out->nroles - 1].many_locks = 1;
		return !strcmp(next_word(&line), "locks") && !*next_word(&line)
			       ? NULL
			       : wrong(text, "it is 'many locks'");
	}
	if (!strcmp(word, "step"))
		return out->nsteps < CLAIM_STEPS && get_step(line, &out->steps[out->nsteps++])
			       ? NULL
			       : wrong(text, "not a step (role, location, thread, occurrence, write, sites), "
					     "or one too many");
	return wrong(text, "lines begin with kind, use, role, exits, passes, step or end");
}

static struct error *parse(struct text *text, struct claim *out)
{
	char *line = next_line(text);

	if (!line || strcmp(line, TITLE " 2"))
		return wrong(text, "the first line is not '" TITLE " 2'");
	while ((line = next_line(text))) {
		if (!strcmp(line, "end"))
			return claim_is_sound(out)
				       ? NULL
				       : wrong(text, "steps and roles do not fit together (2 to 6 steps of 2 "
						     "or 3 roles; an order has 2)");
		TRY(get_line(text, line, out));
	}
	return wrong(text, "it ends without 'end'");
}

struct error *claim_parse(const char *text, size_t size, const char *name, struct claim *out)
{
	*out = (struct claim){ 0 };
	if (size > MOST_BYTES || memchr(text, '\0', size))
		return error_new("%s is no claim: it is too long or no text", name);
	_cleanup_free_ char *copy = memory_alloc(size + 1);
	struct text reading = { .rest = copy, .name = name };

	memcpy(copy, text, size);
	struct error *error = parse(&reading, out);

	if (error)
		*out = (struct claim){ 0 };
	return error;
}

struct error *claim_read(const char *path, struct claim *out)
{
	_cleanup_free_ char *text = memory_alloc(MOST_BYTES + 1);
	FILE *file = fopen(path, "r");

	if (!file)
		return error_errno(errno, "cannot read the claim %s", path);
	size_t size = fread(text, 1, MOST_BYTES + 1, file);

	fclose(file);
	return claim_parse(text, size, path, out);
}
