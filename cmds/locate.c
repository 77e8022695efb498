/* unsnarl locate: which accesses made a failed run fail, by comparison with runs
 * of the same campaign that passed. Chooses the runs, calls analysis/locon, and
 * prints; --falcon and --sensitivity are in locate_study.c.
 */
#include "cmds/locate.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmds.h"
#include "analysis/locon/ask.h"
#include "analysis/locon/forced.h"
#include "analysis/locon/vote.h"
#include "report/answer.h"
#include "report/finding_view.h"
#include "report/locate_words.h"
#include "report/text.h"
#include "report/words.h"

static const char *const procedures[] = { "I", "II", "III", "switches", NULL };
#define SWITCHES 3 /* its place */
static const char *const levels[] = { "site", "thread", "loop", "moment", NULL };

#define AT(member) .offset = offsetof(struct locate_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "procedure", .value = "P", .kind = OPTIONS_WORD, AT(procedure), .words = procedures,
	  .help = "only this one: I, pairs that only the failed run has; II, pairs that it lacks; III, pairs "
		  "that never come together in passing runs; switches, what the switches point at that a "
		  "failure found by hunt needs (default: one after the other until one answers)" },
	{ .name = "level", .value = "LEVEL", .kind = OPTIONS_WORD, AT(level), .words = levels,
	  .help = "of procedure III: site, thread, loop or moment (default: one after the other)" },
	{ .name = "falcon", .kind = OPTIONS_FLAG, AT(falcon),
	  .help = "rank by Falcon's patterns instead, for comparison" },
	{ .name = "sensitivity", .kind = OPTIONS_FLAG, AT(sensitivity),
	  .help = "how the answer changes with 10, 20 and so on passing runs" },
	{ .name = "top", .value = "N", .kind = OPTIONS_NUMBER, AT(top), .low = 1, .high = 10000,
	  .help = "at most N findings (default 3; 20 in JSON)" },
	CMDS_STORE_ENTRY(struct locate_options),
	CMDS_JSON_ENTRY(struct locate_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "locate",
	.operands = "[options] [RUN|last]",
	.summary = "name the accesses that made a run fail, from runs that passed",
	.text = "Compares a failed run with all runs of the same program and arguments that passed, and "
		"names "
		"the accesses of different threads whose order made the difference. One failed run is "
		"enough; "
		"a hundred passing ones, some of them with --jitter, make a good comparison. Where no run is "
		"named it is the last one that failed; of up to 12 that ended like that, each is explained "
		"by itself, and the one is shown whose explanation most of them share.\n\n"
		"The exit status is 1 when something was found, 0 when the runs do not differ.",
	.examples = "  unsnarl run -n 200 --jitter -- ./program\n"
		    "  unsnarl locate\n"
		    "  unsnarl locate 17 --top 10 --json\n",
	.entries = entries,
};

static struct error *choose_run(struct store *store, char **operands, uint64_t *number)
{
	const char *what = operands[0];
	char *end;

	if (what && operands[1])
		return error_new("locate explains one run at a time, not %s as well", operands[1]);
	if (what && strcmp(what, "last")) {
		errno = 0;
		*number = strtoull(what, &end, 10);
		if (*what < '0' || *what > '9' || *end || errno)
			return error_new("%s is no run number and not last", what);
		return NULL;
	}
	TRY(store_last_failed(store, 0, number));
	if (!*number)
		return error_new(
			"no recorded run has failed yet: record more with unsnarl run -n 100 --jitter, "
			"or look for a failure with unsnarl hunt");
	return NULL;
}

/* Says what stands in the way, if anything does. */
static struct error *check(const struct locate_options *options, const struct run *run,
			   const struct locon_data *data)
{
	unsigned long long number = (unsigned long long)run->number;

	if (run->label != LABEL_FAIL)
		return error_new(
			"run %llu passed: there is nothing to explain. unsnarl runs lists those that failed",
			number);
	if (!data->passed_all)
		return error_new(
			"no run of the same program and arguments has passed, so there is nothing to "
			"compare run %llu with: record some with unsnarl run -n 100",
			number);
	if (!data->input.npassed)
		return error_new(
			"the passing runs recorded no pairs: record some with unsnarl run and without "
			"--observe, or with --observe pairs");
	if (!data->input.failed.npairs && !data->input.ran && options->procedure != 2)
		return error_new(
			"run %llu recorded neither pairs nor predecessors: record it with unsnarl run and "
			"without --observe",
			number);
	return NULL;
}

static void print_notes(const struct locon_data *data, const struct locon_answer *answer)
{
	if (answer->cut)
		printf("\nNote: there were too many pairs to put all of them together; only those near to "
		       "each\nother in their threads were, so procedure III may have missed something.\n");
	if (data->dropped)
		printf("\nNote: the failed run had no room for %llu observations; they are missing here.\n",
		       (unsigned long long)data->dropped);
	if (data->input.npassed + data->passed_empty < data->passed_all)
		printf("\nNote: compared with the newest %zu of %zu passing runs.\n", data->input.npassed,
		       data->passed_all);
	if (data->input.npassed < 10)
		printf("\nNote: %zu passing %s few to compare with; unsnarl run -n 100 --jitter records "
		       "more.\n",
		       data->input.npassed, data->input.npassed == 1 ? "run is" : "runs are");
}

static void print_text(const struct run *run, const struct campaign *campaign, const struct locon_data *data,
		       const struct locon_vote *vote, const struct locon_answer *answer)
{
	struct excerpts excerpts = { 0 };
	_cleanup_free_ char *program = memory_string(campaign->program);
	_cleanup_free_ char *command = words_command(campaign, 11);
	_cleanup_free_ char *how = words_ended(run);

	excerpts.folder = memory_string(dirname(program));
	printf("Run %llu failed (%s); compared with %zu runs that passed.\n  program  %s\n",
	       (unsigned long long)run->number, how, data->input.npassed, command);
	if (vote->asked > 1 && vote->alike)
		printf("  chosen   of %zu runs that failed this way, %zu with this explanation\n",
		       vote->asked, vote->alike);
	if (answer->procedure == LOCON_SWITCHES)
		printf("  found by the switches that run %llu needs; comparing tells nothing\n",
		       (unsigned long long)answer->findings.items[0].run);
	else if (answer->findings.n)
		printf("  found by procedure %s%s%s%s: %zu %s\n", locon_procedure_name(answer->procedure),
		       answer->procedure == LOCON_III ? " at the level of a " : "",
		       answer->procedure == LOCON_III ? locon_level_name(answer->level) : "", "",
		       answer->suspects,
		       answer->procedure == LOCON_III
			       ? (answer->suspects == 1 ? "couple of pairs" : "couples of pairs")
		       : answer->suspects == 1 ? "suspicious pair"
					       : "suspicious pairs");
	else if (vote->asked > 1)
		printf("\nNothing found: of %zu runs that failed this way, too few differ from those that\n"
		       "passed in the same respect. The cause is not in the order of memory accesses,\n"
		       "or only a value decides: a failure that unsnarl hunt has found can be explained\n"
		       "by its switches. What sets the last run apart, if anything does, is shown by\n"
		       "unsnarl locate last.\n",
		       vote->asked);
	else
		printf("\nNothing found: in what was observed the failed run does not differ from the runs\n"
		       "that passed. More passing runs do not help here; another failed run may, most of\n"
		       "all one that unsnarl hunt has found, or the cause is not in the order of memory\n"
		       "accesses.\n");
	for (size_t i = 0; i < answer->findings.n; i++) {
		putchar('\n');
		finding_print(&answer->findings.items[i], &excerpts, stdout);
	}
	print_notes(data, answer);
	const char *changed = excerpt_changed(&excerpts, run->started);

	if (changed) {
		_cleanup_free_ char *path = text_path(changed);

		printf("\nNote: %s was changed after this run; its lines are shown as they are now.\n", path);
	}
	excerpt_free(&excerpts);
}

static void print_json(const struct run *run, const struct campaign *campaign, const struct locon_data *data,
		       const struct locon_vote *vote, const struct locon_answer *answer)
{
	json_t *object = answer_new("locate"), *head = answer_campaign(campaign);

	json_object_update(object, head);
	json_decref(head);
	json_object_set_new(object, "run", answer_count(run->number));
	json_object_set_new(object, "passed", answer_count(data->input.npassed));
	json_object_set_new(object, "pairs", answer_count(data->input.failed.npairs));
	json_object_set_new(object, "procedure",
			    answer->procedure ? json_string(locon_procedure_name(answer->procedure))
					      : json_null());
	json_object_set_new(object, "level",
			    answer->procedure == LOCON_III ? json_string(locon_level_name(answer->level))
							   : json_null());
	json_object_set_new(object, "suspects", answer_count(answer->suspects));
	json_object_set_new(object, "chosen_of", answer_count(vote->asked ? vote->asked : 1));
	json_object_set_new(object, "alike", answer_count(vote->alike));
	json_object_set_new(object, "cut", json_boolean(answer->cut));
	json_object_set_new(object, "findings", findings_json(&answer->findings));
	answer_print(object);
}

/* Of the failed runs that ended as the last one did, that with the explanation most of them have. */
static struct error *choose_best(struct store *store, const struct locate_options *options, uint64_t *number,
				 struct locon_vote *vote)
{
	struct run run = { 0 };
	struct campaign *campaigns = NULL;
	size_t n = 0;
	uint64_t campaign = 0;

	if (options->procedure != LOCATE_ANY || options->falcon || options->sensitivity)
		return NULL;
	TRY(store_campaigns(store, &campaigns, &n));
	for (size_t i = 0; i < n; i++) {
		struct error *error =
			campaign ? NULL : locate_find_run(store, campaigns[i].number, *number, &run);

		if (!campaign && !error)
			campaign = campaigns[i].number;
		error_free(error);
		campaign_free(&campaigns[i]);
	}
	free(campaigns);
	run_free(&run);
	if (!campaign)
		return NULL;
	TRY(locon_vote(store, campaign, *number, vote));
	*number = vote->run;
	return NULL;
}

static struct error *locate(struct store *store, const struct locate_options *options, uint64_t number,
			    const struct locon_vote *vote, int *status)
{
	_cleanup_(run_free) struct run run = { 0 };
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	_cleanup_(locon_data_free) struct locon_data data = { 0 };
	_cleanup_(locon_answer_free) struct locon_answer answer = { 0 };

	TRY(locon_gather(store, number, &data));
	TRY(cmds_campaigns(store, data.campaign, &campaigns));
	TRY(locate_find_run(store, data.campaign, number, &run));
	TRY(check(options, &run, &data));
	if (options->falcon)
		return locate_falcon(store, options, &campaigns.items[0], &run, &data, status);
	if (options->sensitivity)
		return locate_sensitivity(store, options, &campaigns.items[0], &run, &data);
	const struct locon_request request = locate_request(options, &data);

	if (options->procedure != SWITCHES && (vote->asked < 2 || vote->alike))
		TRY(locon_ask(store, &data, &request, &answer));
	if (!answer.findings.n && (options->procedure == SWITCHES || options->procedure == LOCATE_ANY))
		TRY(locon_forced(store, data.campaign, &number, &request, &answer));
	locate_words(&answer);
	(options->json ? print_json : print_text)(&run, &campaigns.items[0], &data, vote, &answer);
	*status = answer.findings.n > 0;
	return NULL;
}

static struct error *locate_main(int argc, char **argv, int *status)
{
	struct locate_options options = { .store = CMDS_STORE, .procedure = LOCATE_ANY, .level = LOCATE_ANY };
	_cleanup_(store_closep) struct store *store = NULL;
	struct locon_vote vote = { 0 };
	uint64_t number;
	char **operands;

	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (options.level != LOCATE_ANY && options.procedure == LOCATE_ANY)
		options.procedure = 2;
	if (options.level != LOCATE_ANY && options.procedure != 2)
		return error_new("--level is of procedure III only");
	if (!options.top)
		options.top = options.json ? 20 : 3;
	TRY(store_open(options.store, false, &store));
	TRY(choose_run(store, operands, &number));
	if (!operands[0])
		TRY(choose_best(store, &options, &number, &vote));
	return locate(store, &options, number, &vote, status);
}

const struct verb verb_locate = { .page = &page, .main = locate_main };
