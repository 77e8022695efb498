/* Writes a schedule as text (doc/formats.md, "Schedule"): a head of one line per field, then one line per turn. It is
 * for people first; what follows the numbers of a turn is not read again. schedule_parse.c reads it. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/schedule.h"
#include "model/schedule_words.h"
#include "model/site.h"

/* A name on a line of its own: whatever is not a plain character is escaped. */
static void put_name(FILE *out, const char *key, const char *name)
{
	fprintf(out, "%s ", key);
	for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
		if (*at < 0x20 || *at == 0x7f || *at == '\\')
			fprintf(out, "\\x%02x", *at);
		else
			putc(*at, out);
	}
	putc('\n', out);
}

/* The last part of a path is enough for a person; names hold no blanks or controls. */
static void put_word(FILE *out, const char *word)
{
	const char *slash = strrchr(word, '/');

	for (const char *at = slash ? slash + 1 : word; *at; at++)
		putc(isgraph((unsigned char)*at) ? *at : '?', out);
}

static void put_place(FILE *out, const struct site *site)
{
	if (!site)
		return;
	fprintf(out, "  ");
	put_word(out, site->function);
	putc(' ', out);
	put_word(out, site->file);
	fprintf(out, ":%u", site->line);
	if (*site->variable) {
		putc(' ', out);
		put_word(out, site->variable);
	}
}

static void put_head(FILE *out, const struct schedule *schedule)
{
	fprintf(out, SCHEDULE_TITLE " %d\n", SCHEDULE_VERSION);
	if (schedule->program)
		put_name(out, "program", schedule->program);
	for (char **argument = schedule->arguments; argument && *argument; argument++)
		put_name(out, "argument", *argument);
	fprintf(out, "build 0x%016" PRIx64 "\n", schedule->build);
	fprintf(out, "policy %s %u\n", schedule_policy_name(schedule->policy), schedule->depth);
	fprintf(out, "seed %" PRIu64 "\n", schedule->seed);
	fprintf(out, "points %" PRIu64 "\n", schedule->points);
	if (schedule->outcome > 0 && schedule->outcome < OUTCOME_BEYOND)
		fprintf(out, "ended %s %d\n", schedule_outcomes[schedule->outcome], schedule->code);
	fprintf(out, "output 0x%016" PRIx64 "\n", schedule->output);
	if (schedule->claim) {
		_cleanup_free_ char *text = claim_text(schedule->claim);

		put_name(out, "claim", text);
	}
	fprintf(out, "hash 0x%016" PRIx64 "\n", schedule_hash(schedule->turns, schedule->nturns));
}

/* Where every access is a point no sites need be named. */
static void put_sites(FILE *out, const struct schedule *schedule)
{
	if (schedule->everywhere) {
		fprintf(out, "everywhere 1\n");
		return;
	}
	fprintf(out, "sites %zu\n# accesses at these are points, too\n", schedule->nsites);
	for (size_t i = 0; i < schedule->nsites; i++)
		fprintf(out, "0x%016" PRIx64 "\n", schedule->sites[i]);
}

static int64_t thread_or_none(uint32_t thread)
{
	return thread == THREAD_NONE ? -1 : (int64_t)thread;
}

/* Only where there is one: most schedules have no such line. */
static void put_fault(FILE *out, const struct schedule_fault *fault, schedule_lookup *find, void *context)
{
	if (fault->kind <= MEMORY_NO_FAULT || fault->kind >= MEMORY_FAULTS)
		return;
	fprintf(out,
		"fault %s %" PRIu32 " %s site 0x%" PRIx64 " offset %s %" PRIu64 " size %" PRIu64
		" block %" PRIu64 " born %" PRId64 " 0x%" PRIx64 " freed %" PRId64 " 0x%" PRIx64,
		schedule_faults[fault->kind], fault->thread, fault->write ? "write" : "read", fault->site,
		fault->offset < 0 ? "before" : "at",
		fault->offset < 0 ? (uint64_t)-fault->offset : (uint64_t)fault->offset, fault->size,
		fault->block, thread_or_none(fault->born_thread), fault->born_site,
		thread_or_none(fault->freed_thread), fault->freed_site);
	put_place(out, find && fault->site ? find(context, fault->site) : NULL);
	putc('\n', out);
}

/* Only for threads that are children of a fork, and those that saw another take a signal. */
static void put_more(FILE *out, const struct schedule *schedule, schedule_lookup *find, void *context)
{
	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *wait = &schedule->waits[i];

		if (wait->fork_site)
			fprintf(out, "forked %zu site 0x%" PRIx64 "\n", i, wait->fork_site);
		if (!wait->taken_site)
			continue;
		fprintf(out, "taken %zu signal %" PRId64 " 0x%" PRIx64 " by %" PRId64 " 0x%" PRIx64, i,
			thread_or_none(wait->taken_thread), wait->taken_site,
			thread_or_none(wait->taker_thread), wait->taker_site);
		put_place(out, find ? find(context, wait->taken_site) : NULL);
		putc('\n', out);
	}
}

void schedule_write(FILE *out, const struct schedule *schedule, schedule_lookup *find, void *context)
{
	put_head(out, schedule);
	put_sites(out, schedule);
	fprintf(out, "turns %zu\n# thread, points, why it stopped, before which site\n", schedule->nturns);
	for (size_t i = 0; i < schedule->nturns; i++) {
		const struct schedule_turn *turn = &schedule->turns[i];

		if (turn->wake)
			fprintf(out, "%4" PRIu32 " wakes", turn->thread);
		else
			fprintf(out, "%4" PRIu32 " %7" PRIu64 " %-9s 0x%016" PRIx64, turn->thread,
				turn->points,
				schedule_stops[(unsigned)turn->stop <= STOP_YIELDED ? turn->stop
										    : STOP_BLOCKED],
				turn->site);
		put_place(out, find && turn->site && !turn->wake ? find(context, turn->site) : NULL);
		putc('\n', out);
	}
	fprintf(out, "waits %zu\n", schedule->nwaits);
	for (size_t i = 0; i < schedule->nwaits; i++) {
		const struct schedule_wait *wait = &schedule->waits[i];

		fprintf(out,
			"%4" PRIu32 " %s object %" PRIu32 " site 0x%" PRIx64 " holder %" PRId64 " 0x%" PRIx64
			" missed %" PRId64 " 0x%" PRIx64,
			wait->thread,
			(unsigned)wait->kind < WAITING_KINDS ? schedule_waits[wait->kind] : schedule_waits[0],
			wait->object, wait->site, thread_or_none(wait->holder), wait->holder_site,
			thread_or_none(wait->missed_thread), wait->missed_site);
		put_place(out, find && wait->site ? find(context, wait->site) : NULL);
		putc('\n', out);
	}
	put_more(out, schedule, find, context);
	put_fault(out, &schedule->fault, find, context);
	fprintf(out, "end\n");
}
