/* unsnarl hunt: runs one schedule after the other until one fails and enough
 * others have passed, records both, makes the failing one short and tells it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "cmds/focus.h"
#include "diagnose/chase.h"
#include "diagnose/experiment.h"
#include "diagnose/retell.h"
#include "loom/launch.h"
#include "loom/world/world.h"
#include "report/hunt_view.h"

#define USUAL_BUDGET 10000
#define MEASURE_SECONDS 20
#define REDUCE_SECONDS 120 /* mostly it is over much sooner, by other limits */

struct hunt_command {
	uint64_t passes, failures, seed, jobs, context;
	double timeout_s;
	const char *budget, *check, *expect, *store, *force, *forbid;
	struct claim claim; /* from --force or --forbid */
	unsigned policy, loom, focus;
	const char *only;
	struct focus claims; /* of candidates, to be forced now and then */
	bool keep_going, no_reduce, early, json;
	struct cmds_world world;
	/* From --budget: one of them, the other is 0. */
	uint64_t schedules;
	double seconds;
};

static const char *const policies[] = { "auto",        "random",      "pct2",       "pct3",
					"pct5",        "pos",         "surw",       "random-places",
					"pct2-groups", "pct3-groups", "pos-places", "surw-places",
					"guided",      NULL };

static const char *const focuses[] = { "auto", "scan", "none", NULL };
enum { FOCUS_AUTO, FOCUS_SCAN, FOCUS_NONE };
#define FOCUS_SELDOM 8u /* every so many-th schedule when the store happens to hold a scan */
#define FOCUS_OFTEN 2u  /* and when the user asks for it */

#define AT(member) .offset = offsetof(struct hunt_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ 'b', "budget", "N|TIME", OPTIONS_STRING, AT(budget),
	  .help = "how many schedules at most, or for how long: 5000, 30s, 10m, 2h (default 10000)" },
	{ .name = "passes", .value = "N", .kind = OPTIONS_NUMBER, AT(passes), .high = 1000000,
	  .help = "passing runs to record beside the failing ones (default 100)" },
	{ .name = "failures", .value = "N", .kind = OPTIONS_NUMBER, AT(failures), .low = 1, .high = 1000000,
	  .help = "failing runs to record (default 100)" },
	{ .name = "policy", .value = "P", .kind = OPTIONS_WORD, AT(policy), .words = policies,
	  .help = "how schedules are chosen: random, pct2, pct3, pct5, pos, surw, guided; for many threads "
		  "with the same code random-places, pct2-groups, pct3-groups, pos-places, surw-places; or auto, "
		  "which uses them all and those most that pay (default auto)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "makes a hunt repeatable (default: a new one)" },
	{ 'j', "jobs", "J", OPTIONS_NUMBER, AT(jobs), .low = 1, .high = 1024,
	  .help = "schedules at a time (default: one per processor); changes nothing but the time it takes" },
	CMDS_VERDICT_ENTRIES(struct hunt_command),
	CMDS_WORLD_ENTRIES(struct hunt_command),
	CMDS_CONTEXT_ENTRY(struct hunt_command),
	CMDS_LOOM_ENTRY(struct hunt_command),
	CMDS_PROGRAM_ENTRY(struct hunt_command),
	{ .name = "force", .value = "FINDING", .kind = OPTIONS_STRING, AT(force),
	  .help = "hold threads so that this interleaving happens: the number of a finding of the last "
		  "diagnosis of this program, or a file with a claim" },
	{ .name = "forbid", .value = "FINDING", .kind = OPTIONS_STRING, AT(forbid),
	  .help = "hold threads so that it cannot happen, as if the program were mended" },
	{ .name = "focus", .value = "ON", .kind = OPTIONS_WORD, AT(focus), .words = focuses,
	  .help = "scan: every other schedule forces a candidate of unsnarl scan, one after the other; none; "
		  "or auto, every eighth one when the store holds a scan of this build (default auto)" },
	{ .name = "keep-going", .kind = OPTIONS_FLAG, AT(keep_going),
	  .help = "use up the budget also after a failure" },
	{ .name = "no-reduce", .kind = OPTIONS_FLAG, AT(no_reduce),
	  .help = "leave the failing schedule as long as it is" },
	{ .name = "early-timeouts", .kind = OPTIONS_FLAG, AT(early),
	  .help = "an experiment: waits with a time-out may run out while other threads can go on; a failure "
		  "then says so" },
	CMDS_STORE_ENTRY(struct hunt_command),
	CMDS_JSON_ENTRY(struct hunt_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "hunt",
	.operands = "[options] -- PROGRAM ARGS",
	.summary = "search for a schedule of the threads that makes the program fail",
	.text = "Runs a program that was built with unsnarl cc or unsnarl c++ again and again, one thread at "
		"a time, each time in another order. A run fails when it is killed by a signal, cannot go on "
		"because threads wait for each other, does not keep to its heap blocks, lasts too long, or "
		"when --check or --expect say so; without these two also when it exits with a status other "
		"than 0. Failing runs and some that passed are recorded with what "
		"was observed. The first failing schedule is made as short as possible and printed.\n\n"
		"The exit status is 1 when a failure was found, 0 when not.",
	.examples = "  unsnarl hunt -- ./program file\n"
		    "  unsnarl hunt --budget 5m --expect right.txt -- ./program\n"
		    "  unsnarl hunt --forbid 1 --budget 2000 -- ./program\n"
		    "  unsnarl hunt --policy pct3 --seed 7 --passes 0 -- ./program\n",
	.entries = entries,
	.program = true,
};

/* A number of schedules, or a time with a letter behind it. */
static struct error *read_budget(struct hunt_command *command)
{
	const char *text = command->budget;
	char *end;

	command->schedules = USUAL_BUDGET;
	if (!text)
		return NULL;
	errno = 0;
	double value = strtod(text, &end);

	if (end == text || errno || !isdigit((unsigned char)*text) || value <= 0 || value > 1e12)
		return error_new(
			"--budget takes a number of schedules or a time, such as 5000, 30s, 10m, 2h; "
			"not %s",
			text);
	if (!*end && value == (double)(uint64_t)value) {
		command->schedules = (uint64_t)value;
		return NULL;
	}
	double unit = !strcmp(end, "s")                          ? 1
		      : !strcmp(end, "m") || !strcmp(end, "min") ? 60
		      : !strcmp(end, "h")                        ? 3600
								 : 0;

	if (unit <= 0)
		return error_new(
			"--budget takes a number of schedules or a time, such as 5000, 30s, 10m, 2h; "
			"not %s",
			text);
	command->schedules = 0;
	command->seconds = value * unit;
	return NULL;
}

/* What the switches of the shortest schedule point at, for locate. */
static struct error *keep_claims(const struct launch_options *launch, const struct run *failure,
				 struct retold *retold, const struct windows *windows, struct store *store)
{
	struct hints claims = { 0 };
	struct error *error = experiment_claims(launch, &failure->reduced, retold, windows, &claims);

	/* Who was not moved, because it did not fail again, proves nothing. */
	if (!error && claims.n && claims.items[0].measured)
		error = store_claim(store, failure->number, &claims);
	VEC_FREE(&claims);
	return error;
}

static struct error *tell(const struct hunt_command *command, const struct launch_options *launch,
			  const struct tally *summary, const struct windows *windows, struct store *store)
{
	const struct run *failure = &summary->failure;
	_cleanup_(retold_free) struct retold retold = { 0 };

	if (summary->found)
		TRY(retell(launch, failure->reduced.nturns ? &failure->reduced : &failure->schedule,
			   &retold));
	if (retold.story.traced && failure->reduced.nturns && failure->number)
		TRY(keep_claims(launch, failure, &retold, windows, store));
	retold.story.found = !failure->reduced.nturns;
	(command->json ? hunt_view_json : hunt_view_print)(summary, &retold.story);
	return NULL;
}

static struct error *chase(const struct hunt_command *command, const struct launch_options *launch,
			   struct store *store, struct tally *summary, struct windows *windows)
{
	_cleanup_(chase_stopp) struct chase *chase = NULL;
	const struct chase_options options = {
		.launch = launch,
		.jobs = (unsigned)command->jobs,
		.seed = command->seed,
		.arms = command->policy ? 1u << (command->policy - 1) : EXPLORE_ALL,
		.schedules = command->schedules,
		.seconds = command->seconds,
		.keep_going = command->keep_going,
		.claim = command->claim.use ? &command->claim : NULL,
		.focus = command->claims.items,
		.nfocus = command->claims.n,
		.focus_every = command->focus == FOCUS_SCAN ? FOCUS_OFTEN : FOCUS_SELDOM,
		.stop = cmds_interrupted,
	};

	TRY(chase_start(&options, store, summary, &chase));
	TRY(chase_follow(chase));
	if (command->no_reduce)
		return NULL;
	TRY(chase_shorten(chase, REDUCE_SECONDS, 0));
	return chase_measure(chase, MEASURE_SECONDS, windows);
}

/* What is to be forced or forbidden: a finding of the last diagnosis, or a claim in a file. */
static struct error *find_claim(struct hunt_command *command, struct store *store, uint64_t campaign)
{
	const char *name = command->force ? command->force : command->forbid;
	char *end;

	if (!name)
		return NULL;
	if (command->force && command->forbid)
		return error_new("--force and --forbid exclude each other: one hunt does one of them");
	uint64_t rank = strtoull(name, &end, 10);

	if (!*name || *end || !isdigit((unsigned char)*name)) {
		TRY(claim_read(name, &command->claim));
	} else {
		TRY(store_cause(store, campaign, rank, &command->claim));
		if (command->claim.kind == CLAIM_NONE)
			return error_new("no finding %s that could be forced or forbidden is kept in %s for "
					 "this program and these arguments; unsnarl diagnose makes them",
					 name, command->store);
	}
	command->claim.use = command->force ? CLAIM_FORCE : CLAIM_FORBID;
	return NULL;
}

static struct error *hunt_all(struct hunt_command *command, char **argv, struct tally *summary)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(windows_free) struct windows windows = { 0 };
	_cleanup_(world_close) struct world world = WORLD_CLOSED;
	const struct launch_options launch = {
		.world = &world,
		.loom = (enum loom)command->loom,
		.only = command->only,
		.path = summary->program,
		.argv = argv,
		.area = { .observe = OBSERVE_ALL,
			  .context = (uint32_t)command->context,
			  .seed = command->seed },
		.control = { .policy = POLICY_STAY, .carry = 1, .early = command->early },
		.still = true,
		.timeout_s = command->timeout_s,
		.expect = command->expect,
		.check = command->check,
	};

	cmds_catch_interrupts();
	TRY(cmds_world_open("hunt", &command->world, &world));
	TRY(store_open(command->store, true, &store));
	TRY(store_campaign(store, summary->program, summary->arguments, summary->build, &summary->campaign));
	TRY(find_claim(command, store, summary->campaign));
	summary->claim = (enum claim_use)command->claim.use;
	if (command->focus != FOCUS_NONE && !command->claim.use && command->loom == LOOM_COMPILED)
		TRY(focus_read(command->store, summary->program, summary->build, command->focus == FOCUS_SCAN,
			       &command->claims));
	TRY(chase(command, &launch, store, summary, &windows));
	cmds_world_tell("hunt", &world, false);
	return tell(command, &launch, summary, &windows, store);
}

static struct error *hunt_main(int argc, char **argv, int *status)
{
	struct hunt_command command = {
		.passes = 100,
		.failures = TALLY_FAILURES,
		.seed = cmds_seed(),
		.jobs = cmds_processors(),
		.context = 5,
		.timeout_s = 10,
		.store = CMDS_STORE,
	};
	_cleanup_(tally_free) struct tally summary = { 0 };
	_cleanup_free_ char *path = NULL;
	char **operands;

	TRY(options_parse(&page, argc, argv, &command, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to hunt in: give it after --, as in unsnarl hunt -- ./program");
	TRY(read_budget(&command));
	enum loom loom = (enum loom)command.loom;

	TRY(launch_check(operands[0], &loom, &path, &summary.build));
	command.loom = loom;
	TRY(cmds_check_only(command.only, loom));
	cmds_tell_loom(operands[0], loom);
	if (loom == LOOM_COMPILED)
		TRY(launch_check_control(path));
	summary.store = command.store;
	summary.program = path;
	summary.arguments = operands + 1;
	summary.seed = command.seed;
	summary.passes = command.passes;
	summary.failures = command.failures;
	struct error *error = hunt_all(&command, operands, &summary);

	VEC_FREE(&command.claims);
	if (error)
		return error;
	*status = summary.found && !tally_blames_control(&summary) ? 1
		  : summary.interrupted                            ? CMDS_INTERRUPTED
								   : 0;
	return NULL;
}

const struct verb verb_hunt = { .page = &page, .main = hunt_main };
