/* Shows candidates: one line for what and how much it is believed, one for each
 * access, and below why it may happen. */
#include "report/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h" /* options_fill */
#include "model/finding.h"
#include "model/place.h"
#include "report/answer.h"
#include "report/candidate_words.h"
#include "report/text.h"
#include "report/words.h"

static enum finding_class class_of(enum candidate_kind kind)
{
	switch (kind) {
	case CANDIDATE_RACE:
		return FINDING_RACE;
	case CANDIDATE_ORDER:
		return FINDING_ORDER;
	case CANDIDATE_ATOMICITY:
		return FINDING_ATOMICITY;
	case CANDIDATE_MULTI_ATOMICITY:
		return FINDING_MULTI_ATOMICITY;
	case CANDIDATE_DEADLOCK:
		return FINDING_DEADLOCK;
	default:
		return FINDING_NONE;
	}
}

const char *candidate_class(enum candidate_kind kind)
{
	return finding_class_name(class_of(kind));
}

static const char *does(const struct candidate_access *access)
{
	if (access->frees)
		return "free";
	if (access->joins)
		return "join";
	return access->kind == SITE_SYNC ? "lock" : site_kind_name(access->kind);
}

static void print_access(const struct candidate_access *access, FILE *out)
{
	_cleanup_free_ char *path = text_path(access->file);
	_cleanup_free_ char *place = memory_format("%s:%u", path, access->line);
	_cleanup_free_ char *cut = text_cut(place, 34, true);
	_cleanup_free_ char *function = text_clean(access->function);
	_cleanup_free_ char *locks = text_clean(access->locks);

	fprintf(out, "    T%u  ", access->thread);
	text_pad(out, cut, 34, false);
	fprintf(out, " %-7s%s in %s%s%s%s\n", does(access), access->atomic ? "(atomic)" : "", function,
		*locks ? "  [" : "", locks, *locks ? "]" : "");
}

/* One line for each thread that takes part. */
static void print_threads(const struct candidate *candidate, FILE *out)
{
	unsigned told = 0;

	for (size_t i = 0; i < candidate->accesses.n; i++) {
		const struct candidate_access *access = &candidate->accesses.items[i];

		if (access->thread <= told)
			continue;
		_cleanup_free_ char *root = text_clean(access->root);

		told = access->thread;
		fprintf(out, "    T%u is %s\n", access->thread, root);
	}
}

void candidate_print(const struct candidate *candidate, FILE *out)
{
	_cleanup_free_ char *variable = text_clean(candidate->variable);
	char *why = memory_string(candidate_parallel_words(candidate->parallel));

	fprintf(out, "%3u. %s  %s  (%.2f)\n", candidate->rank, candidate_kind_words(candidate->kind),
		*variable ? variable : "no name in the source", candidate->score);
	for (size_t i = 0; i < candidate->accesses.n; i++)
		print_access(&candidate->accesses.items[i], out);
	for (size_t i = 0; i < candidate->others.n; i++) {
		if (i == 0)
			fprintf(out, "    or in between, instead of T2's:\n");
		print_access(&candidate->others.items[i], out);
	}
	print_threads(candidate, out);
	for (size_t i = 0; i < candidate->notes.n; i++) {
		_cleanup_free_ char *note = candidate_note_words(&candidate->notes.items[i]);
		char *more = note ? memory_format("%s; %s", why, note) : NULL;

		if (!more)
			continue;
		free(why);
		why = more;
	}
	_cleanup_free_ char *clean = text_clean(why);

	free(why);
	fprintf(out, "    ");
	options_fill(out, clean, 4, 4);
	fprintf(out, "\n");
}

static void print_pair(const struct pair_told *told, FILE *out)
{
	_cleanup_free_ char *one = text_clean(told->variables[0]), *two = text_clean(told->variables[1]);
	_cleanup_free_ char *pair = memory_format("%s of %s and %s of %s", site_kind_name(told->kinds[0]),
						  *one ? one : "memory without a name",
						  site_kind_name(told->kinds[1]), *two ? two : "the like");

	switch (told->verdict) {
	case PAIR_READS:
		fprintf(out, "%s: neither writes\n", pair);
		break;
	case PAIR_ELSEWHERE:
		fprintf(out, "%s: they never touch the same location\n", pair);
		break;
	case PAIR_PRUNED:
		fprintf(out, "%s: left out, %s\n", pair, pruned_words(told->rule));
		break;
	case PAIR_CANDIDATE:
		fprintf(out, "%s: a candidate, %s\n", pair, candidate_parallel_words(told->parallel));
		break;
	}
	if (told->lock) {
		_cleanup_free_ char *lock = text_clean(told->lock);

		fprintf(out, "  both hold %s, so that it is a matter of order alone\n", lock);
	}
}

void candidate_print_why(const struct pairs_told *told, const char *const places[2], FILE *out)
{
	for (size_t i = 0; i < told->pairs.n; i++)
		print_pair(&told->pairs.items[i], out);
	for (int i = 0; i < 2; i++)
		if (!told->found[i])
			fprintf(out, "%s: nothing there touches memory that several threads can reach\n",
				places[i]);
}

void scan_print_pruned(const struct scan *scan, FILE *out)
{
	uint64_t total = 0;

	for (int i = 0; i < PRUNED_RULES; i++)
		total += scan->pruned[i];
	fprintf(out, "Left out, since it cannot happen at a time: %llu pairs of statements\n",
		(unsigned long long)total);
	for (int i = 0; i < PRUNED_RULES; i++)
		if (scan->pruned[i])
			fprintf(out, "%9llu  %s\n", (unsigned long long)scan->pruned[i],
				pruned_words((enum pruned)i));
	fprintf(out, "%9zu  accesses of memory that only one thread can reach were not looked at\n",
		scan->private_accesses);
	if (scan->unpaired)
		fprintf(out,
			"%9llu  pairs of accesses through pointers that lead to very many places were not "
			"compared\n",
			(unsigned long long)scan->unpaired);
	if (scan->untried)
		fprintf(out,
			"%9llu  ways to pairs of accesses that were known from other ways were not looked "
			"at\n",
			(unsigned long long)scan->untried);
}

static const char *const stage_words[SCAN_STAGES] = {
	"reading",
	"following pointers",
	"finding threads",
	"finding locks",
	"collecting accesses",
	"pairing accesses",
	"operations that are not atomic",
	"pairs of variables",
};

char *scan_stage_words(enum scan_stage stage, size_t done, size_t total)
{
	if (stage == SCAN_POINTERS && done)
		return memory_format("%s, round %zu", stage_words[stage], done);
	if (total > 1)
		return memory_format("%s, %zu%%", stage_words[stage], done * 100 / total);
	return memory_string(stage_words[stage]);
}

void scan_print_unfinished(const struct scan *scan, FILE *out)
{
	const char *lead = "The time was up; not all was looked at of: ";

	for (int i = 0; i < SCAN_STAGES; i++)
		if (scan->unfinished[i]) {
			fprintf(out, "%s%s", lead, stage_words[i]);
			lead = ", ";
		}
	if (*lead == ',')
		fprintf(out, ". More --time finds more.\n");
}

/* ---- JSON ---- */

static json_t *access_json(const struct candidate_access *access)
{
	json_t *all = json_object();

	json_object_set_new(all, "thread", json_integer(access->thread));
	json_object_set_new(all, "kind", json_string(does(access)));
	json_object_set_new(all, "atomic", json_boolean(access->atomic));
	json_object_set_new(all, "file", answer_text(access->file));
	json_object_set_new(all, "line", json_integer(access->line));
	json_object_set_new(all, "column", json_integer(access->column));
	json_object_set_new(all, "function", answer_text(access->function));
	json_object_set_new(all, "variable", answer_text(access->variable));
	json_object_set_new(all, "root", answer_text(access->root));
	json_object_set_new(all, "locks", answer_text(access->locks));
	return all;
}

json_t *candidate_json(const struct candidate *candidate)
{
	json_t *all = json_object(), *accesses = json_array(), *others = json_array(), *notes = json_array();
	json_t *variables = json_array();

	for (size_t i = 0; i < candidate->accesses.n; i++)
		json_array_append_new(accesses, access_json(&candidate->accesses.items[i]));
	for (size_t i = 0; i < candidate->others.n; i++)
		json_array_append_new(others, access_json(&candidate->others.items[i]));
	for (size_t i = 0; i < candidate->notes.n; i++) {
		_cleanup_free_ char *note = candidate_note_words(&candidate->notes.items[i]);

		if (note)
			json_array_append_new(notes, answer_text(note));
	}
	json_array_append_new(variables, answer_text(candidate->variable));
	json_object_set_new(all, "rank", json_integer(candidate->rank));
	json_object_set_new(all, "id", answer_hex(candidate->id));
	json_object_set_new(all, "class", json_string(candidate_class(candidate->kind)));
	json_object_set_new(all, "method", json_string("scan"));
	json_object_set_new(all, "score", json_real(candidate->score));
	json_object_set_new(all, "variables", variables);
	json_object_set_new(all, "accesses", accesses);
	json_object_set_new(all, "others", others);
	json_object_set_new(all, "summary", answer_text(candidate_parallel_words(candidate->parallel)));
	json_object_set_new(all, "notes", notes);
	json_object_set_new(all, "observed", json_boolean(candidate->observed));
	return all;
}

static const char *const rule_names[PRUNED_RULES] = { "one-thread", "before-create", "after-join",
						      "apart",      "elsewhere",     "types" };

json_t *scan_json(const struct scan *scan)
{
	json_t *all = json_object(), *pruned = json_object(), *threads = json_array();
	json_t *unfinished = json_array();

	for (int i = 0; i < PRUNED_RULES; i++)
		json_object_set_new(pruned, rule_names[i], answer_count(scan->pruned[i]));
	for (size_t i = 0; i < scan->roots.n; i++)
		json_array_append_new(threads, answer_text(scan->roots.items[i]));
	json_object_set_new(all, "units", answer_count(scan->units));
	json_object_set_new(all, "functions", answer_count(scan->functions));
	json_object_set_new(all, "instructions", answer_count(scan->instructions));
	json_object_set_new(all, "accesses", answer_count(scan->accesses));
	json_object_set_new(all, "private", answer_count(scan->private_accesses));
	json_object_set_new(all, "locks", answer_count(scan->locks));
	json_object_set_new(all, "threads", threads);
	json_object_set_new(all, "pruned", pruned);
	json_object_set_new(all, "dropped", answer_count(scan->dropped));
	for (int i = 0; i < SCAN_STAGES; i++)
		if (scan->unfinished[i])
			json_array_append_new(unfinished, json_string(stage_words[i]));
	json_object_set_new(all, "uncompared", answer_count(scan->unpaired));
	json_object_set_new(all, "untried", answer_count(scan->untried));
	json_object_set_new(all, "unfinished", unfinished);
	return all;
}

/* ---- beside a diagnosis ---- */

void candidate_print_found(const struct candidate *candidate, FILE *out)
{
	fprintf(out, "\nThis was also candidate %u of unsnarl scan.\n", candidate->rank);
}

void candidate_print_alike(const struct candidate *candidate, bool first_of_all, FILE *out)
{
	const struct candidate_access *first = &candidate->accesses.items[0],
				      *second = &candidate->accesses.items[1];
	_cleanup_free_ char *variable = text_clean(candidate->variable),
			    *file = text_clean(place_file_name(first->file));
	_cleanup_free_ char *other = text_clean(place_file_name(second->file));

	if (first_of_all)
		fprintf(out, "The same mistake may be at these lines; unsnarl verify tries them:\n");
	fprintf(out, "  %s:%u and %s:%u, %s (candidate %u)\n", file, first->line, other, second->line,
		*variable ? variable : "a variable without a name", candidate->rank);
}
