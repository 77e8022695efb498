/* From files to ranked candidates: reads, analyses, collects, sorts. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "static/scanner.h"

/* ---- analysis ---- */

static void tell(const struct scan_options *options, enum scan_stage stage, size_t done, size_t total)
{
	if (options->progress)
		options->progress(options->context, stage, done, total);
}

static void tell_wave(void *context, uint32_t waves)
{
	tell(context, SCAN_POINTERS, waves, 0);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool scanner_go_on(const struct scanner *scanner, struct scan *out, enum scan_stage stage, size_t done,
		   size_t total)
{
	tell(scanner->options, stage, done, total);
	if (scanner->end <= 0 || now() < scanner->end)
		return true;
	out->unfinished[stage] = true;
	return false;
}

struct error *scanner_start(struct scanner *scanner, const struct scan_options *options)
{
	*scanner = (struct scanner){ .options = options,
				     .end = options->seconds > 0 ? now() + options->seconds : 0 };
	tell(options, SCAN_READING, 0, 1);
	TRY(whole_read(options->paths, options->npaths, &scanner->whole));
	tell(options, SCAN_POINTERS, 0, 0);
	points_start(&scanner->points, &scanner->whole, tell_wave, (void *)options);
	tell(options, SCAN_THREADS, 0, 1);
	threads_start(&scanner->threads, &scanner->points);
	tell(options, SCAN_LOCKS, 0, 1);
	locks_start(&scanner->locks, &scanner->threads);
	tell(options, SCAN_ACCESSES, 0, 1);
	accesses_start(&scanner->accesses, &scanner->locks);
	scanner->statement_of = memory_alloc((scanner->accesses.items.n + 1) * sizeof *scanner->statement_of);
	for (uint32_t i = 0; i < scanner->accesses.items.n; i++) {
		const struct access_at *access = &scanner->accesses.items.items[i];

		scanner->statement_of[i] =
			scanner_statement(scanner, access->instruction, access->pointer, access->kind);
	}
	return NULL;
}

void scanner_free(struct scanner *scanner)
{
	for (uint32_t i = 0; scanner->root_words && i < THREADS_MOST; i++)
		free(scanner->root_words[i]);
	for (size_t i = 0; i < scanner->nlock_words; i++)
		free(scanner->lock_words[i]);
	free(scanner->root_words);
	free(scanner->lock_words);
	map_free(&scanner->tag_answers);
	map_free(&scanner->parallel);
	phases_free(scanner->phases);
	accesses_free(&scanner->accesses);
	locks_free(&scanner->locks);
	threads_free(&scanner->threads);
	points_free(&scanner->points);
	whole_free(&scanner->whole);
	VEC_FREE(&scanner->statements);
	map_free(&scanner->statement_numbers);
	for (size_t i = 0; i < scanner->strings.room; i++)
		if (scanner->strings.slots[i].used)
			free((void *)(uintptr_t)scanner->strings.slots[i].value);
	map_free(&scanner->strings);
	free(scanner->statement_of);
	*scanner = (struct scanner){ 0 };
}

/* ---- ranking ---- */

static uint64_t identity(const struct candidate *candidate)
{
	uint64_t hash = hash_bytes(HASH_START, &candidate->kind, sizeof candidate->kind);

	for (size_t i = 0; i < candidate->accesses.n; i++) {
		const struct candidate_access *access = &candidate->accesses.items[i];
		const char *slash = strrchr(access->file, '/');

		hash = hash_string(hash, slash ? slash + 1 : access->file);
		hash = hash_bytes(hash, &access->line, sizeof access->line);
		hash = hash_bytes(hash, &access->kind, sizeof access->kind);
		hash = hash_string(hash, access->variable);
	}
	return hash;
}

#define REPEATED 0.04 /* what each further candidate of one variable loses */
#define REPEATED_MOST 0.3

/* Whoever looks at the first candidates of a variable has seen most of the others: what another variable has comes
 * before the tenth way to say the same. */
static void spread(struct scan *scan)
{
	struct map seen = { 0 };

	scan_sort(scan);
	for (size_t i = 0; i < scan->candidates.n; i++) {
		struct candidate *candidate = &scan->candidates.items[i];
		const struct candidate_access *first = &candidate->accesses.items[0];
		/* What has no name is told apart by its line. */
		uint64_t key = *candidate->variable ? hash_string(HASH_START, candidate->variable)
						    : hash_bytes(hash_string(HASH_START, first->file),
								 &first->line, sizeof first->line);
		uint64_t *n = map_put(&seen, key, NULL);
		double less = REPEATED * (double)(*n)++;

		candidate->score -= less < REPEATED_MOST ? less : REPEATED_MOST;
		candidate->score = candidate->score < 0.01 ? 0.01 : candidate->score;
	}
	map_free(&seen);
	scan_sort(scan);
}

/* Every access, alone and with each lock that its own function took for it. */
static void list_parts(struct scanner *scanner, struct scan *out)
{
	for (uint32_t i = 0; i < scanner->accesses.items.n; i++) {
		const struct access_at *access = &scanner->accesses.items.items[i];

		*VEC_PUSH(&out->parts) =
			(struct scan_instruction){ scanner->statement_of[i], access->instruction, UINT32_MAX,
						   UINT32_MAX };
		for (uint32_t h = 0; h < access->held.n; h++)
			if (access->held.items[h].section < LOCKS_ENTRY - 1)
				*VEC_PUSH(&out->parts) = (struct scan_instruction){
					scanner->statement_of[i], access->instruction,
					access->held.items[h].lock, access->held.items[h].section
				};
	}
}

static void sum_up(struct scanner *scanner, struct scan *out)
{
	for (uint32_t r = 0; r < scanner->threads.n; r++)
		*VEC_PUSH(&out->roots) = memory_string(scanner_root(scanner, r));
	out->functions = scanner->whole.functions.n;
	out->instructions = scanner->whole.instructions.n;
	out->accesses = scanner->accesses.items.n;
	out->private_accesses = scanner->accesses.private_accesses;
	out->objects = scanner->points.objects.n;
	out->locks = scanner->locks.items.n;
	out->units = scanner->whole.bitcodes.items.n;
	for (size_t i = 0; i < scanner->whole.bitcodes.skipped.n; i++)
		*VEC_PUSH(&out->skipped) = memory_string(scanner->whole.bitcodes.skipped.items[i]);
	list_parts(scanner, out);
	for (size_t i = 0; i < out->candidates.n; i++)
		out->candidates.items[i].id = identity(&out->candidates.items[i]);
}

struct error *static_scan(const struct scan_options *options, struct scan *out)
{
	_cleanup_(scanner_free) struct scanner scanner;

	*out = (struct scan){ 0 };
	TRY(scanner_start(&scanner, options));
	pairs_find(&scanner, out);
	atomic_find(&scanner, out);
	multi_find(&scanner, out);
	cycles_find(&scanner, out);
	sum_up(&scanner, out);
	spread(out);
	while (options->most && out->candidates.n > options->most) {
		candidate_free(&out->candidates.items[--out->candidates.n]);
		out->cut = true;
		out->dropped++;
	}
	return NULL;
}
