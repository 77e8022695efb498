/* What unsnarl learn says: how much was learned, whether more runs would teach more, what
 * is hot, and the set of one line of source.
 */
#include "report/learn_view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h" /* options_fill */
#include "report/answer.h"
#include "report/plot.h"
#include "report/text.h"
#include "report/words.h"

static uint64_t members_of(const struct guard_set *set)
{
	uint64_t n = 0;

	for (uint32_t number = 1; number <= set->sites.n; number++)
		n += guard_set_site(set, number)->before.n;
	return n;
}

/* A sentence, filled to 80 columns. */
static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	_cleanup_free_ char *text = memory_vformat(format, arguments);

	va_end(arguments);
	options_fill(stdout, text, 0, 0);
}

/* ", 3 failed left out"; nothing for none. Fresh. */
static char *words_some(uint64_t n, const char *what)
{
	return n ? memory_format(", %" PRIu64 " %s", n, what) : memory_string("");
}

static void say_campaigns(const struct training *training)
{
	for (size_t i = 0; i < training->campaigns.n; i++) {
		const struct training_campaign *campaign = &training->campaigns.items[i];

		_cleanup_free_ char *passing = words_count(campaign->used, "passing run", "passing runs"),
				    *failed = words_some(campaign->failed, "failed left out"),
				    *skipped = words_some(campaign->skipped, "without predecessors left out"),
				    *free_runs = words_some(campaign->free, campaign->judged
										    ? "free ones as witnesses"
										    : "free ones left out");

		say("campaign %" PRIu64 ": %s%s%s%s; the last %" PRIu64 " taught nothing new",
		    campaign->number, passing, failed, skipped, free_runs, campaign->quiet);
	}
}

static void say_verdict(const struct training *training, bool converged)
{
	if (converged) {
		say("Converged: at a confidence of 95 %% fewer than one run in twenty would teach more.");
		return;
	}
	for (size_t i = 0; i < training->campaigns.n; i++) {
		const struct training_campaign *campaign = &training->campaigns.items[i];

		if (campaign->quiet < TRAINING_QUIET)
			say("Not converged yet: campaign %" PRIu64 " needs %" PRIu64
			    " more passing runs without news.",
			    campaign->number, TRAINING_QUIET - campaign->quiet);
	}
	say("A guard made of it may stall where nothing is wrong.");
}

#define GUARDED_NS 2.0 /* of an access whose thread was the last at its location (doc/results.md) */

static uint64_t count_of(const struct guard_set *set)
{
	uint64_t n = 0;

	for (uint32_t number = 1; number <= set->sites.n; number++)
		n += guard_set_site(set, number)->count;
	return n;
}

/* What guarding all of the set costs, by how often its accesses ran. */
static void say_cost(const struct training *training, const struct guard_set *set)
{
	uint64_t all = count_of(&training->places), guarded = count_of(set);

	if (!all || !training->counted)
		return;
	double cost_ns = (double)(guarded / training->counted) * GUARDED_NS;

	say("A traced run came to them %" PRIu64 " times, of %" PRIu64
	    " accesses in all. Guarding them costs about "
	    "%.2g %s of processor time, %g ns each%s.",
	    guarded / training->counted, all / training->counted,
	    cost_ns < 1e6 ? cost_ns / 1e3 : cost_ns / 1e6, cost_ns < 1e6 ? "us" : "ms", GUARDED_NS,
	    guarded > all / 20 && guarded / training->counted > 10000
		    ? "; --bias leaves the most frequent out"
		    : "");
}

void learn_print(struct training *training, const struct guard_set *set)
{
	_cleanup_free_ uint64_t *curve = memory_alloc((training->runs.n + 1) * sizeof *curve);

	say_campaigns(training);
	training_curve(training, curve);
	if (training->runs.n > 1) {
		const struct plot_curve plot = { .title = "members of sets", .values = curve };

		plot_print(&plot, 1, training->runs.n, 1, training->runs.n, stdout);
	}
	printf("%zu shared accesses, %" PRIu64 " members in their sets.\n", set->sites.n, members_of(set));
	if (training->left_out)
		say("%zu more were too rare: where they come the guarded program stalls, at most for the "
		    "limit.",
		    training->left_out);
	if (training->lucky)
		say("Controlled runs failed, so others may have passed by luck: %zu more members, rare in "
		    "free runs "
		    "(hardly one in %u), are in doubt. Where they come the guarded program stalls.",
		    training->lucky, TRAINING_USUAL);
	if (training->use_failed)
		say("Failed runs were used too, %" PRIu32
		    " of them: %zu members were left out that they had far "
		    "more often than passing ones, which may have passed by luck.",
		    training->failures, training->doubtful);
	if (!training->traces)
		say("No run could be traced, so an access that shares memory but came before no other "
		    "thread's is "
		    "not guarded.");
	say_cost(training, set);
	if (training->cut)
		say("A trace was too long to be kept whole: shares are of its beginning.");
	say_verdict(training, set->converged);
}

/* "write of balance at account.c:67 in withdraw" */
static char *words_of(const struct guard_site *site)
{
	_cleanup_free_ char *variable = text_clean(site->variable), *function = text_clean(site->function),
			    *file = text_clean(place_file_name(site->file));
	const char *kind = site->kind == SITE_READ ? "read" : site->kind == SITE_WRITE ? "write" : "update";

	return memory_format("%s%s%s at %s:%u in %s", kind, *variable ? " of " : "", variable, file,
			     site->line, *function ? function : "?");
}

void learn_groups_print(const struct guard_set *set, const struct bias *bias)
{
	printf("group  share   accesses  most frequent\n");
	for (size_t i = 0; i < bias->groups.n; i++) {
		const struct bias_group *group = &bias->groups.items[i];
		_cleanup_free_ char *words = words_of(guard_set_site(set, group->sample));

		if (i >= 20 && !group->left_out) {
			printf("       and %zu smaller groups\n", bias->groups.n - i);
			break;
		}
		_cleanup_free_ char *cut = text_cut_line(words, 40);

		printf("%5zu  %5.1f %%  %8u  %s%s\n", i + 1, 100 * group->share, group->sites, cut,
		       group->left_out ? "  (left unguarded)" : "");
	}
}

/* ---- one line of source ---- */

static bool is_there(const struct guard_site *site, const char *file, uint32_t line, uint32_t column)
{
	size_t length = strlen(file), whole = strlen(site->file);
	bool ends = length <= whole && strcmp(site->file + whole - length, file) == 0 &&
		    (length == whole || site->file[whole - length - 1] == '/');

	return ends && site->line == line && (!column || site->column == column);
}

static void explain_place(struct training *training, uint32_t number)
{
	const struct guard_site *site = guard_set_site(&training->places, number);
	_cleanup_free_ char *words = words_of(site);

	printf("%s, column %u\n", words, site->column);
	if (!training->shared.items[number]) {
		printf("  only ever one thread's: not guarded\n");
		return;
	}
	printf("  may come right after\n");
	for (size_t i = 0; i < training->members.n; i++) {
		const struct training_member *member = &training->members.items[i];

		if (member->place != number || !member->runs)
			continue;
		_cleanup_free_ char *before =
			member->before ? words_of(guard_set_site(&training->places, member->before))
				       : memory_string("nobody: no other thread has been there");

		printf("    %-58s  %" PRIu32 " of %zu runs", before, member->runs, training->runs.n);
		if (training_doubts(training, member))
			printf(", but %" PRIu32 " of %" PRIu32 " failed ones: left out", member->failed,
			       training->failures);
		else if (!member->stands)
			printf(", but rare in free ones: in doubt");
		printf("\n");
	}
}

/* FILE:LINE[:COLUMN] taken apart; `file` is the caller's to free. */
static bool take_apart(const char *where, char **file, uint32_t *line, uint32_t *column)
{
	char *copy = memory_string(where), *last = strrchr(copy, ':'), *end;

	*file = copy;
	*column = 0;
	if (!last || !last[1])
		return false;
	*last = '\0';
	unsigned long number = strtoul(last + 1, &end, 10);
	bool good = !*end && number && number <= UINT32_MAX;
	char *middle = strrchr(copy, ':');

	if (good && middle && middle[1] && strspn(middle + 1, "0123456789") == strlen(middle + 1)) {
		*column = (uint32_t)number;
		number = strtoul(middle + 1, NULL, 10);
		*middle = '\0';
	}
	*line = (uint32_t)number;
	return good && *copy;
}

#define NO_PLACE "%s is no place: --explain wants FILE:LINE or FILE:LINE:COLUMN"

struct error *learn_explain_check(const char *where)
{
	_cleanup_free_ char *file = NULL;
	uint32_t line, column;

	if (!take_apart(where, &file, &line, &column))
		return error_new(NO_PLACE, where);
	return NULL;
}

struct error *learn_explain_print(struct training *training, const char *where)
{
	_cleanup_free_ char *file = NULL;
	uint32_t line = 0, column, found = 0;

	if (!take_apart(where, &file, &line, &column))
		return error_new(NO_PLACE, where);
	for (uint32_t number = 1; number <= training->places.sites.n; number++)
		if (is_there(guard_set_site(&training->places, number), file, line, column)) {
			explain_place(training, number);
			found++;
		}
	if (!found)
		return error_new("no recorded run has an access at %s; unsnarl show FILE:LINE tells what is "
				 "known of a line",
				 where);
	return NULL;
}

/* ---- JSON ---- */

static json_t *groups_json(const struct guard_set *set, const struct bias *bias)
{
	json_t *list = json_array();

	for (size_t i = 0; i < bias->groups.n; i++) {
		const struct bias_group *group = &bias->groups.items[i];
		const struct guard_site *sample = guard_set_site(set, group->sample);

		json_array_append_new(list, json_pack("{s:f,s:I,s:o,s:o,s:i,s:b}", "share", group->share,
						      "accesses", (json_int_t)group->sites, "variable",
						      answer_text(sample->variable), "file",
						      answer_text(sample->file), "line", (int)sample->line,
						      "left_out", group->left_out));
	}
	return list;
}

void learn_json(struct training *training, const struct guard_set *set, const struct bias *bias,
		const char *file)
{
	_cleanup_free_ uint64_t *curve = memory_alloc((training->runs.n + 1) * sizeof *curve);
	json_t *answer = answer_new("learn"), *values = json_array(), *campaigns = json_array();

	training_curve(training, curve);
	for (size_t i = 0; i < training->runs.n; i++)
		json_array_append_new(values, answer_count(curve[i]));
	for (size_t i = 0; i < training->campaigns.n; i++) {
		const struct training_campaign *campaign = &training->campaigns.items[i];

		json_array_append_new(campaigns, json_pack("{s:o,s:o,s:o,s:o}", "campaign",
							   answer_count(campaign->number), "passed",
							   answer_count(campaign->used), "failed",
							   answer_count(campaign->failed), "quiet",
							   answer_count(campaign->quiet)));
	}
	json_object_set_new(answer, "guard_set", answer_text(file));
	json_object_set_new(answer, "converged", json_boolean(set->converged));
	json_object_set_new(answer, "runs", answer_count(training->runs.n));
	json_object_set_new(answer, "failed_used", answer_count(training->failures));
	json_object_set_new(answer, "doubtful", answer_count(training->doubtful));
	json_object_set_new(answer, "lucky", answer_count(training->lucky));
	json_object_set_new(answer, "accesses", answer_count(set->sites.n));
	json_object_set_new(answer, "members", answer_count(members_of(set)));
	json_object_set_new(answer, "traces", answer_count(training->traces));
	json_object_set_new(answer, "curve", values);
	json_object_set_new(answer, "campaigns", campaigns);
	json_object_set_new(answer, "groups", groups_json(set, bias));
	answer_print(answer);
}

void learn_saved_print(const char *path, size_t accesses)
{
	_cleanup_free_ char *file = text_clean(path ? path : "");

	if (!path) {
		printf("Next:\n  unsnarl learn -o FILE  writes it as a guard set\n");
		return;
	}

	printf("The guard set is in %s: %zu accesses. Next:\n"
	       "  unsnarl cc --guard %s ...  builds the program for production\n",
	       file, accesses, file);
}
