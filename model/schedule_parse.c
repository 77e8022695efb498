/* Reads the text of a schedule, of any origin: each number has a limit, and nothing is allocated but for lines that are
 * there. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "model/schedule.h"
#include "model/schedule_words.h"

#define MOST_TURNS (1u << 23)
#define MOST_WAITS 1024u
#define MOST_SITES (1u << 22)
#define MOST_THREADS 1000000000u
#define MOST_BYTES ((size_t)1 << 30)

struct text {
	const char *at, *end; /* not yet read */
	const char *name;
	size_t line;
	char *words; /* the line at hand, cut up by next_word */
	size_t room;
	char *rest;
};

static struct error *wrong(const struct text *text, const char *what)
{
	return error_new("%s, line %zu: %s; the schedule cannot be followed", text->name, text->line, what);
}

/* The next line that is not empty and no comment; false at the end. */
static bool next_line(struct text *text)
{
	while (text->at < text->end) {
		const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
		size_t size = (size_t)((newline ? newline : text->end) - text->at);

		if (size + 1 > text->room) {
			text->room = size + 1 > text->room * 2 ? size + 1 : text->room * 2;
			text->words = memory_resize(text->words, text->room);
		}
		memcpy(text->words, text->at, size);
		while (size && (text->words[size - 1] == '\r' || text->words[size - 1] == ' '))
			size--;
		text->words[size] = '\0';
		text->at = newline ? newline + 1 : text->end;
		text->line++;
		text->rest = text->words + strspn(text->words, " \t");
		if (*text->rest && *text->rest != '#')
			return true;
	}
	text->line++;
	return false;
}

/* The next word of the line; "" when there is none. */
static char *next_word(struct text *text)
{
	char *word = text->rest + strspn(text->rest, " \t");
	size_t length = strcspn(word, " \t");

	text->rest = word + length;
	if (*text->rest)
		*text->rest++ = '\0';
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

static bool get_number(struct text *text, uint64_t most, uint64_t *out)
{
	return number_of(next_word(text), most, out);
}

static bool get_u32(struct text *text, uint64_t most, uint32_t *out)
{
	uint64_t value;

	if (!get_number(text, most, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

static bool get_thread(struct text *text, uint32_t *out)
{
	const char *word = next_word(text);
	uint64_t value;

	*out = THREAD_NONE;
	if (!strcmp(word, "-1"))
		return true;
	if (!number_of(word, MOST_THREADS, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

static bool get_name(struct text *text, const char *const *names, size_t n, unsigned *out)
{
	const char *word = next_word(text);

	for (*out = 0; *out < n; ++*out)
		if (names[*out] && !strcmp(names[*out], word))
			return true;
	return false;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The rest of the line with its escapes undone; NULL when one of them is wrong. */
static char *get_text(struct text *text)
{
	char *name = memory_string(text->rest), *to = name;

	for (const char *from = name; *from;) {
		int high, low;

		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		if (from[1] != 'x' || (high = hex_digit(from[2])) < 0 || (low = hex_digit(from[3])) < 0 ||
		    !(high | low)) {
			free(name);
			return NULL;
		}
		*to++ = (char)(high << 4 | low);
		from += 4;
	}
	*to = '\0';
	return name;
}

struct reading {
	struct text text;
	VEC(char *) arguments;
	VEC(struct schedule_turn) turns;
	VEC(struct schedule_wait) waits;
	VEC(uint64_t) sites;
	uint64_t hash;
	bool hashed;
};

static bool get_turn(struct text *text, struct schedule_turn *turn)
{
	unsigned stop;

	if (!get_u32(text, MOST_THREADS, &turn->thread))
		return false;
	const char *word = next_word(text);

	turn->wake = !strcmp(word, "wakes");
	if (turn->wake)
		return true;
	if (!number_of(word, UINT64_MAX, &turn->points) ||
	    !get_name(text, schedule_stops, STOP_YIELDED + 1, &stop) ||
	    !get_number(text, UINT64_MAX, &turn->site))
		return false;
	turn->stop = (enum schedule_stop)stop;
	return true;
}

static struct error *get_turns(struct reading *reading)
{
	uint64_t n;

	if (!get_number(&reading->text, MOST_TURNS, &n))
		return wrong(&reading->text, "not a number of turns");
	for (uint64_t i = 0; i < n; i++) {
		if (!next_line(&reading->text))
			return wrong(&reading->text, "it ends before its last turn");
		if (!get_turn(&reading->text, VEC_PUSH(&reading->turns)))
			return wrong(&reading->text, "not a turn (thread, points, why it stopped, site)");
	}
	return NULL;
}

static bool is_word(struct text *text, const char *word)
{
	return !strcmp(next_word(text), word);
}

static bool get_wait(struct text *text, struct schedule_wait *wait)
{
	unsigned kind;

	if (!get_u32(text, MOST_THREADS, &wait->thread) ||
	    !get_name(text, schedule_waits, WAITING_KINDS, &kind))
		return false;
	wait->kind = (enum schedule_waiting)kind;
	return is_word(text, "object") && get_u32(text, UINT32_MAX, &wait->object) && is_word(text, "site") &&
	       get_number(text, UINT64_MAX, &wait->site) && is_word(text, "holder") &&
	       get_thread(text, &wait->holder) && get_number(text, UINT64_MAX, &wait->holder_site) &&
	       is_word(text, "missed") && get_thread(text, &wait->missed_thread) &&
	       get_number(text, UINT64_MAX, &wait->missed_site);
}

static struct error *get_waits(struct reading *reading)
{
	uint64_t n;

	if (!get_number(&reading->text, MOST_WAITS, &n))
		return wrong(&reading->text, "not a number of waiting threads");
	for (uint64_t i = 0; i < n; i++) {
		if (!next_line(&reading->text))
			return wrong(&reading->text, "it ends before its last waiting thread");
		if (!get_wait(&reading->text, VEC_PUSH(&reading->waits)))
			return wrong(&reading->text, "not a waiting thread");
	}
	return NULL;
}

static struct error *get_sites(struct reading *reading)
{
	uint64_t n;

	if (!get_number(&reading->text, MOST_SITES, &n))
		return wrong(&reading->text, "not a number of sites");
	for (uint64_t i = 0; i < n; i++) {
		if (!next_line(&reading->text))
			return wrong(&reading->text, "it ends before its last site");
		uint64_t *site = VEC_PUSH(&reading->sites);

		if (!get_number(&reading->text, UINT64_MAX, site) || (i && *site <= site[-1]))
			return wrong(&reading->text, "not a site, or not behind the one before");
	}
	return NULL;
}

static bool get_policy(struct text *text, struct schedule *out)
{
	const char *word = next_word(text);

	for (unsigned i = 0; i < SCHEDULE_POLICIES; i++)
		if (!strcmp(schedule_policy_name((enum schedule_policy)i), word)) {
			out->policy = (enum schedule_policy)i;
			return get_u32(text, UINT32_MAX, &out->depth);
		}
	return false;
}

static bool get_ended(struct text *text, struct schedule *out)
{
	unsigned outcome;
	uint64_t code;

	if (!get_name(text, schedule_outcomes, OUTCOME_BEYOND, &outcome) || !get_number(text, INT_MAX, &code))
		return false;
	out->outcome = (enum outcome)outcome;
	out->code = (int)code;
	return true;
}

static bool get_program(struct text *text, struct schedule *out)
{
	free(out->program);
	out->program = get_text(text);
	return out->program && *out->program;
}

static bool get_argument(struct reading *reading)
{
	char *argument = get_text(&reading->text);

	if (argument)
		*VEC_PUSH(&reading->arguments) = argument;
	return argument != NULL;
}

static bool get_claim(struct text *text, struct schedule *out)
{
	_cleanup_free_ char *claim = get_text(text);

	free(out->claim);
	out->claim = memory_alloc(sizeof *out->claim);
	struct error *error = claim ? claim_parse(claim, strlen(claim), "claim", out->claim) : NULL;
	bool good = claim && !error;

	error_free(error);
	return good;
}

/* One field of the head, the key already read. */
static bool get_field(struct reading *reading, const char *key, struct schedule *out)
{
	struct text *text = &reading->text;

	if (!strcmp(key, "program"))
		return get_program(text, out);
	if (!strcmp(key, "argument"))
		return get_argument(reading);
	if (!strcmp(key, "build"))
		return get_number(text, UINT64_MAX, &out->build);
	if (!strcmp(key, "policy"))
		return get_policy(text, out);
	if (!strcmp(key, "seed"))
		return get_number(text, UINT64_MAX, &out->seed);
	if (!strcmp(key, "points"))
		return get_number(text, UINT64_MAX, &out->points);
	if (!strcmp(key, "ended"))
		return get_ended(text, out);
	if (!strcmp(key, "everywhere")) {
		uint64_t value;

		out->everywhere = get_number(text, 1, &value) && value;
		return out->everywhere;
	}
	if (!strcmp(key, "output"))
		return get_number(text, UINT64_MAX, &out->output);
	if (!strcmp(key, "claim"))
		return get_claim(text, out);
	if (!strcmp(key, "hash"))
		return reading->hashed = get_number(text, UINT64_MAX, &reading->hash);
	return false;
}

static struct error *get_title(struct text *text, struct schedule *out)
{
	uint64_t version;

	if (!next_line(text) || !is_word(text, "unsnarl") || !is_word(text, "schedule"))
		return error_new("%s is not a schedule of unsnarl: it does not begin with \"" SCHEDULE_TITLE
				 "\"",
				 text->name);
	if (!get_number(text, UINT64_MAX, &version) || version == 0)
		return wrong(text, "no version");
	if (version > SCHEDULE_VERSION)
		return error_new("%s is a schedule of version %" PRIu64
				 ", this unsnarl knows version %d; use a newer unsnarl",
				 text->name, version, SCHEDULE_VERSION);
	out->everywhere = version == 1;
	return NULL;
}

static bool get_fault(struct text *text, struct schedule_fault *fault)
{
	unsigned kind;
	uint64_t offset;

	if (!get_name(text, schedule_faults, MEMORY_FAULTS, &kind) ||
	    !get_u32(text, MOST_THREADS, &fault->thread))
		return false;
	fault->kind = (enum memory_fault)kind;
	fault->write = is_word(text, "write");
	if (!is_word(text, "site") || !get_number(text, UINT64_MAX, &fault->site) || !is_word(text, "offset"))
		return false;
	bool before = is_word(text, "before");

	if (!get_number(text, INT64_MAX, &offset))
		return false;
	fault->offset = before ? -(int64_t)offset : (int64_t)offset;
	return is_word(text, "size") && get_number(text, UINT64_MAX, &fault->size) &&
	       is_word(text, "block") && get_number(text, UINT64_MAX, &fault->block) &&
	       is_word(text, "born") && get_thread(text, &fault->born_thread) &&
	       get_number(text, UINT64_MAX, &fault->born_site) && is_word(text, "freed") &&
	       get_thread(text, &fault->freed_thread) && get_number(text, UINT64_MAX, &fault->freed_site);
}

/* More of one of the waits that came before. */
static bool get_more(struct reading *reading, bool forked)
{
	struct text *text = &reading->text;
	uint64_t i;

	if (!reading->waits.n || !get_number(text, reading->waits.n - 1, &i))
		return false;
	struct schedule_wait *wait = &reading->waits.items[i];

	if (forked)
		return is_word(text, "site") && get_number(text, UINT64_MAX, &wait->fork_site);
	return is_word(text, "signal") && get_thread(text, &wait->taken_thread) &&
	       get_number(text, UINT64_MAX, &wait->taken_site) && is_word(text, "by") &&
	       get_thread(text, &wait->taker_thread) && get_number(text, UINT64_MAX, &wait->taker_site);
}

static struct error *get_all(struct reading *reading, struct schedule *out)
{
	struct text *text = &reading->text;

	TRY(get_title(text, out));
	for (;;) {
		if (!next_line(text))
			return wrong(text, "it ends before its last line, \"end\"");
		const char *key = next_word(text);

		if (!strcmp(key, "end"))
			break;
		if (!strcmp(key, "turns") && !reading->turns.n)
			TRY(get_turns(reading));
		else if (!strcmp(key, "waits") && !reading->waits.n)
			TRY(get_waits(reading));
		else if (!strcmp(key, "sites") && !reading->sites.n)
			TRY(get_sites(reading));
		else if (!strcmp(key, "fault")    ? !get_fault(text, &out->fault)
			 : !strcmp(key, "forked") ? !get_more(reading, true)
			 : !strcmp(key, "taken")  ? !get_more(reading, false)
						  : !get_field(reading, key, out))
			return wrong(text, "a field that is not known or has no such value");
	}
	if (!reading->hashed || reading->hash != schedule_hash(reading->turns.items, reading->turns.n))
		return error_new("%s: its turns do not agree with its hash; it was changed on its way",
				 text->name);
	return NULL;
}

struct error *schedule_parse(const char *text, size_t size, const char *name, struct schedule *out)
{
	struct reading reading = { .text = { .at = text, .end = text + size, .name = name } };

	*out = (struct schedule){ 0 };
	struct error *error =
		memchr(text, '\0', size) ? error_new("%s is not a text", name) : get_all(&reading, out);

	*VEC_PUSH(&reading.arguments) = NULL;
	out->arguments = reading.arguments.items;
	out->turns = reading.turns.items;
	out->nturns = reading.turns.n;
	out->waits = reading.waits.items;
	out->nwaits = reading.waits.n;
	out->sites = reading.sites.items;
	out->nsites = reading.sites.n;
	free(reading.text.words);
	if (error)
		schedule_free(out);
	return error;
}

struct error *schedule_read(const char *path, struct schedule *out)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct stat status;

	if (!file || fstat(fileno(file), &status) < 0)
		return error_errno(errno, "cannot read the schedule %s", path);
	if (!S_ISREG(status.st_mode) || (size_t)status.st_size > MOST_BYTES)
		return error_new("%s is not a schedule: it is %s", path,
				 S_ISREG(status.st_mode) ? "too large" : "not a file");
	_cleanup_free_ char *text = memory_alloc((size_t)status.st_size + 1);
	size_t size = fread(text, 1, (size_t)status.st_size, file);

	return schedule_parse(text, size, path, out);
}
