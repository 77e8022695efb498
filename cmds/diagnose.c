/* unsnarl diagnose, also unsnarl -- PROGRAM ARGS: everything that helps, in the best
 * order, and one screen in the end. The work is done in diagnose/.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmds.h"
#include "cmds/diagnose_candidates.h"
#include "cmds/diagnose_isolate.h"
#include "cmds/diagnose_patch.h"
#include "diagnose/diagnosis.h"
#include "loom/launch.h"
#include "loom/world/world.h"
#include "report/patch_view.h"

struct diagnose_command {
	uint64_t seed, jobs, budget;
	double time_s, timeout_s;
	const char *check, *expect, *store;
	struct cmds_world world;
	unsigned loom;
	const char *only;
	bool json;
};

#define AT(member) .offset = offsetof(struct diagnose_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "time", .value = "S", .kind = OPTIONS_SECONDS, AT(time_s),
	  .help = "how long it may take, about; mostly it takes less when the program fails (default 60 seconds)" },
	{ .name = "budget", .value = "N", .kind = OPTIONS_NUMBER, AT(budget), .low = 1, .high = UINT64_MAX / 16,
	  .help = "look at so many schedules at most, however long that takes, instead of --time: the answer then "
		  "depends on the seed alone" },
	CMDS_LOOM_ENTRY(struct diagnose_command),
	CMDS_PROGRAM_ENTRY(struct diagnose_command),
	{ 'j', "jobs", "J", OPTIONS_NUMBER, AT(jobs), .low = 1, .high = 1024,
	  .help = "schedules at a time (default: one per processor)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "of the search for a failure (default: a new one)" },
	CMDS_VERDICT_ENTRIES(struct diagnose_command),
	CMDS_WORLD_ENTRIES(struct diagnose_command),
	CMDS_STORE_ENTRY(struct diagnose_command),
	CMDS_JSON_ENTRY(struct diagnose_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "diagnose",
	.operands = "[options] -- PROGRAM ARGS",
	.summary = "make the program fail, find out why, and say it on one screen",
	.text = "Runs a program that was built with unsnarl cc or unsnarl c++ once as it is, looks for a "
		"schedule of its threads that makes it fail, replays that to be sure, makes it as short as "
		"possible, and compares it with runs that passed. Then says which accesses of which threads "
		"came in which order, what passing runs do instead, how sure that is, what kind of fix fits, "
		"and how to see it again. unsnarl [options] -- PROGRAM ARGS is short for it.\n\n"
		"Ctrl-C ends the search; what is known by then is told. The exit status is 1 when the "
		"program "
		"failed, 0 when it did not.",
	.examples = "  unsnarl -- ./program file\n"
		    "  unsnarl diagnose --time 300 --expect right.txt -- ./program\n"
		    "  unsnarl diagnose --json -- ./program\n",
	.entries = entries,
	.program = true,
};

/* What goes on, for who watches. */
static void stage(enum diagnosis_stage now)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "unsnarl: %s\n", diagnosis_stage_words(now));
}

/* The answer; on a terminal it does not wait for the patch to be tried. */
static struct error *tell(const struct diagnosis *diagnosis, const struct launch_options *launch,
			  const struct diagnose_command *command)
{
	_cleanup_free_ char *file = NULL;
	struct patch_offer offer = { 0 };
	const struct diagnosis_view view = diagnosis_facts(diagnosis);

	if (!command->json)
		diagnosis_print(&view, stdout);
	fflush(stdout);
	TRY(diagnose_patch(diagnosis, launch, command->store, &offer));
	file = offer.file;
	if (command->json) {
		diagnosis_json(&view, &offer);
		return NULL;
	}
	patch_offer_print(&offer, stdout);
	return diagnose_tell_candidates(diagnosis, stdout);
}

static struct error *diagnose_main(int argc, char **argv, int *status)
{
	struct diagnose_command command = { .seed = cmds_seed(),
					    .jobs = cmds_processors(),
					    .time_s = 60,
					    .timeout_s = 10,
					    .store = CMDS_STORE };
	_cleanup_(diagnosis_free) struct diagnosis diagnosis = { 0 };
	_cleanup_free_ char *path = NULL;
	char **operands;
	uint64_t build;

	TRY(options_parse(&page, argc, argv, &command, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to diagnose: give it after --, as in unsnarl -- ./program");
	if (command.time_s <= 0)
		return error_new("--time takes a number of seconds above 0");
	enum loom loom = (enum loom)command.loom;
	_cleanup_(world_close) struct world world = WORLD_CLOSED;

	TRY(launch_check(operands[0], &loom, &path, &build));
	TRY(cmds_check_only(command.only, loom));
	cmds_tell_loom(operands[0], loom);
	if (loom == LOOM_COMPILED)
		TRY(launch_check_control(path));
	cmds_catch_interrupts();
	TRY(cmds_world_open("diagnose", &command.world, &world));
	const struct diagnosis_options options = {
		.world = &world,
		.loom = loom,
		.only = command.only,
		.program = path,
		.argv = operands,
		.build = build,
		.seed = command.seed,
		.jobs = (unsigned)command.jobs,
		.schedules = command.budget,
		.time_s = command.time_s,
		.timeout_s = command.timeout_s,
		.check = command.check,
		.expect = command.expect,
		.store = command.store,
		.stop = cmds_interrupted,
		.stage = stage,
		.isolate = cmds_isolate_opinion,
	};

	TRY(diagnose(&options, &diagnosis));
	cmds_world_tell("diagnose", &world, false);
	if (diagnosis.interrupted)
		fprintf(stderr, "unsnarl diagnose: interrupted; this is what is known so far\n");
	const struct launch_options launch = { .loom = loom,
					       .path = path,
					       .argv = operands,
					       .area.seed = command.seed,
					       .timeout_s = command.timeout_s,
					       .check = command.check,
					       .expect = command.expect,
					       .world = &world };

	TRY(tell(&diagnosis, &launch, &command));
	*status = (diagnosis.tally.found || diagnosis.causes.n) && !tally_blames_control(&diagnosis.tally) ? 1
		  : diagnosis.interrupted ? CMDS_INTERRUPTED
					  : 0;
	return NULL;
}

const struct verb verb_diagnose = { .page = &page, .main = diagnose_main };
