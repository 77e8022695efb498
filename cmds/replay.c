/* unsnarl replay: follows a recorded schedule again, in a fresh process each time,
 * and says whether the same happened; or hands it to a person as a file, or to gdb.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "cmds/cmds.h"
#include "cmds/replay_gdb.h"
#include "cmds/replay_report.h"
#include "diagnose/retell.h"
#include "loom/launch.h"
#include "loom/world/world.h"

#define WAIT_S 0.1
#define UNTIL_MOST 1000 /* tries of --until failure unless -n says otherwise */

struct replay_command {
	uint64_t runs, jobs;
	double timeout_s;
	const char *store, *export, *commands, *at;
	unsigned until;
	bool gdb, shortest, story, json;
	struct cmds_world world;
	const char *only;
};

static const char *const untils[] = { "failure", NULL };
#define UNTIL_NONE UINT32_MAX

#define AT(member) .offset = offsetof(struct replay_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ 'n', "runs", "N", OPTIONS_NUMBER, AT(runs), .low = 1, .high = 1000000000,
	  .help = "how many times (default 1)" },
	{ 'j', "jobs", "J", OPTIONS_NUMBER, AT(jobs), .low = 1, .high = 1024,
	  .help = "how many at a time (default 1)" },
	{ .name = "until", .value = "failure", .kind = OPTIONS_WORD, AT(until), .words = untils,
	  .help = "stop at the first run that fails as recorded; for programs that are not all under control" },
	{ .name = "gdb", .kind = OPTIONS_FLAG, AT(gdb),
	  .help = "in gdb, stopped where it fails, with all threads" },
	{ .name = "at", .value = "WHERE", .kind = OPTIONS_STRING, AT(at),
	  .help = "in gdb, stopped where the first access of what unsnarl locate finds is about to be done "
		  "(WHERE is the word finding), or where a line is first reached (file.c:12)" },
	{ .name = "gdb-commands", .value = "FILE", .kind = OPTIONS_STRING, AT(commands),
	  .help = "in gdb, which then reads its commands from FILE and ends" },
	{ .name = "export", .value = "FILE", .kind = OPTIONS_STRING, AT(export),
	  .help = "write the schedule to FILE (- for stdout) instead of following it" },
	{ .name = "shortest", .kind = OPTIONS_FLAG, AT(shortest),
	  .help = "the shortest schedule known that fails alike, not the one that was first found" },
	{ .name = "story", .kind = OPTIONS_FLAG, AT(story), .help = "tell it as an interleaving of source lines" },
	{ .name = "timeout", .value = "S", .kind = OPTIONS_SECONDS, AT(timeout_s),
	  .help = "a run that lasts longer has hung (default 10 seconds; 0: wait for ever)" },
	CMDS_WORLD_ENTRIES(struct replay_command),
	CMDS_STORE_ENTRY(struct replay_command),
	CMDS_JSON_ENTRY(struct replay_command),
	CMDS_PROGRAM_ENTRY(struct replay_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "replay",
	.operands = "[options] RUN|last|FILE [-- PROGRAM ARGS]",
	.summary = "run a recorded schedule again, exactly",
	.text = "Follows the schedule of a run that unsnarl hunt has recorded, or one in a file that "
		"--export has "
		"written, with the same build of the program. Compares how it ends, what it prints and the "
		"schedule itself. The last line says how many of the runs were identical. The exit status is "
		"1 "
		"when the recorded failure happened again, 0 when the recorded run had not failed.\n\n"
		"PROGRAM tells where the program is when it is not where it was.",
	.examples = "  unsnarl replay last\n"
		    "  unsnarl replay 17 -n 100\n"
		    "  unsnarl replay 17 --gdb\n"
		    "  unsnarl replay 17 --at finding\n"
		    "  unsnarl replay 17 --export bug.schedule\n"
		    "  unsnarl replay bug.schedule\n",
	.entries = entries,
};

/* What is to be followed, and with which program. */
struct subject {
	struct schedule schedule;
	enum loom loom;
	char *path;      /* of the program */
	char **argv;     /* argv[0] is the program as it was named; items are borrowed */
	char *name;      /* for people: "run 17", "bug.schedule" */
	uint64_t number; /* of the run, 0 = a file */
	bool failed;     /* the recorded run */
	bool shortest;   /* made short from it */
	struct atlas atlas;
};

static void subject_free(struct subject *subject)
{
	schedule_free(&subject->schedule);
	atlas_free(&subject->atlas);
	free(subject->path);
	free(subject->argv);
	free(subject->name);
}

static bool is_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static struct error *take_run(struct store *store, uint64_t number, bool shortest, struct subject *out)
{
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	_cleanup_(run_free) struct run run = { 0 };
	uint64_t campaign;

	TRY(store_run(store, number, &run, &campaign));
	TRY(cmds_campaigns(store, campaign, &campaigns));
	if (!run.schedule.nturns)
		return error_new("run %llu was not controlled: there is no schedule to follow; unsnarl hunt "
				 "records them",
				 (unsigned long long)number);
	out->failed = run.label == LABEL_FAIL;
	out->number = number;
	out->shortest = shortest && run.reduced.nturns;
	out->name = memory_format("run %llu", (unsigned long long)number);
	out->schedule = schedule_copy(shortest && run.reduced.nturns ? &run.reduced : &run.schedule);
	out->schedule.program = campaigns.items[0].program;
	out->schedule.arguments = campaigns.items[0].arguments;
	out->schedule.build = campaigns.items[0].build;
	campaigns.items[0].program = NULL;
	campaigns.items[0].arguments = NULL;
	return NULL;
}

static struct error *take_named(const struct replay_command *command, const char *name, struct subject *out)
{
	_cleanup_(store_closep) struct store *store = NULL;
	uint64_t number;

	if (strcmp(name, "last") != 0 && !is_number(name, &number)) {
		out->name = memory_string(name);
		TRY(schedule_read(name, &out->schedule));
		out->failed = out->schedule.outcome != OUTCOME_EXIT || out->schedule.code;
		return NULL;
	}
	TRY(store_open(command->store, false, &store));
	if (!strcmp(name, "last"))
		TRY(store_last_failed(store, 0, &number));
	if (!number)
		return error_new("no recorded run has failed yet; unsnarl hunt looks for one");
	return take_run(store, number, command->shortest, out);
}

/* Was it this program that was recorded, on the binary loom although it has hooks? */
static bool seen_as_it_is(const char *program, uint64_t recorded)
{
	_cleanup_free_ char *path = NULL;
	enum loom loom = LOOM_BINARY;
	uint64_t build;
	struct error *error = launch_check(program, &loom, &path, &build);

	if (error)
		error_free(error);
	return !error && build == recorded;
}

/* Finds the program, which must be the very build that was recorded. */
static struct error *find_program(struct subject *subject, char **given)
{
	struct schedule *schedule = &subject->schedule;
	char **arguments = given[0] ? given + 1 : schedule->arguments;
	const char *program = given[0] ? given[0] : schedule->program;
	uint64_t build;
	size_t n = 0;

	if (!program)
		return error_new("%s does not say which program it is for; give it after --", subject->name);
	TRY(launch_check(program, &subject->loom, &subject->path, &build));
	if (build != schedule->build && subject->loom == LOOM_COMPILED && seen_as_it_is(program, schedule->build))
		subject->loom = LOOM_BINARY;
	else if (build != schedule->build)
		return error_new(
			"%s is not the build that %s was recorded with; a schedule fits that one only: hunt "
			"again, or give the old program after --",
			program, subject->name);
	if (subject->loom == LOOM_COMPILED)
		TRY(launch_check_control(subject->path));
	while (arguments && arguments[n])
		n++;
	subject->argv = memory_alloc((n + 2) * sizeof *subject->argv);
	subject->argv[0] = (char *)(uintptr_t)program;
	for (size_t i = 0; i < n; i++)
		subject->argv[i + 1] = arguments[i];
	atlas_read_file(&subject->atlas, subject->path);
	return NULL;
}

static struct error *export(const struct subject *subject, const char *path)
{
	bool to_stdout = !strcmp(path, "-");
	_cleanup_fclose_ FILE *file = to_stdout ? NULL : fopen(path, "we");

	if (!to_stdout && !file)
		return error_errno(errno, "cannot write %s", path);
	schedule_write(to_stdout ? stdout : file, &subject->schedule, atlas_find,
		       (void *)(uintptr_t)&subject->atlas);
	if (file && (fflush(file) || ferror(file)))
		return error_errno(errno, "cannot write %s", path);
	return NULL;
}

/* Does the run show what was recorded? */
static bool is_same_failure(const struct subject *subject, const struct run *run)
{
	return run->outcome == subject->schedule.outcome && run->code == subject->schedule.code;
}

static struct error *follow(const struct replay_command *command, struct launch_pool *pool, uint64_t runs,
			    const struct subject *subject, struct replay_report *report)
{
	_cleanup_(progress_stopp) struct progress *progress = progress_start(STDERR_FILENO, runs);
	bool done = false;

	while (!done && !cmds_interrupted()) {
		_cleanup_(run_free) struct run run = { 0 };
		bool got = false;

		if (!report->still && report->strayed)
			break; /* the others would, too */

		progress_show(progress, report->runs, "replayed");
		TRY(launch_pool_next(pool, WAIT_S, &run, &got, &done));
		if (!got)
			continue;
		replay_report_add(report, &run);
		if (command->until == 0 && is_same_failure(subject, &run))
			break;
	}
	return NULL;
}

static struct error *replay_once(const struct replay_command *command, const struct launch_options *options,
				 const struct subject *subject, struct replay_report *report)
{
	uint64_t runs = command->runs ? command->runs : command->until == 0 ? UNTIL_MOST : 1;
	struct launch_pool *pool = NULL;

	TRY(launch_pool_start(options, (unsigned)command->jobs, runs, &pool));
	struct error *error = follow(command, pool, runs, subject, report);

	launch_pool_stop(pool);
	return error;
}

/* First where the system puts the program; should it go astray, where it lay when it was recorded: what
 * programs do may depend on addresses. */
static struct error *replay_all(const struct replay_command *command, struct launch_options *launch,
				struct subject *subject, int *status)
{
	struct replay_report report = { .name = subject->name,
					.recorded = &subject->schedule,
					.atlas = &subject->atlas,
					.failed = subject->failed };
	struct launch_options options = retell_strictly(launch, &subject->schedule);
	struct error *error = replay_once(command, &options, subject, &report);

	if (!error && report.strayed && !cmds_interrupted()) {
		replay_report_again(&report);
		options.still = launch->still = true;
		error = replay_once(command, &options, subject, &report);
	}
	if (!error)
		(command->json ? replay_view_json : replay_view_print)(&report);
	*status = cmds_interrupted() ? CMDS_INTERRUPTED : report.same_end && subject->failed;
	replay_report_free(&report);
	return error;
}

static struct error *tell(const struct launch_options *launch, const struct subject *subject)
{
	_cleanup_(retold_free) struct retold retold = { 0 };

	TRY(retell(launch, &subject->schedule, &retold));
	retold.story.found = !subject->shortest;
	story_print(&retold.story, stdout);
	return NULL;
}

static struct error *debug(const struct replay_command *command, const struct launch_options *launch,
			   const struct subject *subject, int *status)
{
	struct replay_gdb gdb = { .launch = retell_strictly(launch, &subject->schedule),
				  .path = subject->path,
				  .arguments = subject->argv + 1,
				  .commands = command->commands,
				  .signal = subject->schedule.outcome == OUTCOME_SIGNAL };

	if (command->at && !strcmp(command->at, "finding")) {
		if (!subject->number)
			return error_new("--at finding needs a recorded run; a file has nothing to compare "
					 "with: name a place, as in --at file.c:12");
		TRY(replay_gdb_at_finding(&gdb, command->store, subject->number));
	} else if (command->at) {
		if (!strchr(command->at, ':'))
			return error_new("--at takes a place, as in file.c:12, or the word finding; not %s",
					 command->at);
		gdb.place = command->at;
	}
	return replay_gdb(&gdb, status);
}

static struct error *replay_main(int argc, char **argv, int *status)
{
	struct replay_command command = {
		.jobs = 1, .timeout_s = 10, .store = CMDS_STORE, .until = UNTIL_NONE
	};
	_cleanup_(subject_free) struct subject subject = { 0 };
	char **operands;

	TRY(options_parse(&page, argc, argv, &command, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("replay what? A run number, last, or the file of a schedule");
	TRY(take_named(&command, operands[0], &subject));
	if (command.export && !operands[1]) {
		atlas_read_file(&subject.atlas, subject.schedule.program ? subject.schedule.program : "");
		return export(&subject, command.export);
	}
	TRY(find_program(&subject, operands + 1));
	if (command.export)
		return export(&subject, command.export);
	struct launch_options launch = {
		.loom = subject.loom,
		.path = subject.path,
		.argv = subject.argv,
		.only = command.only,
		.area = { .observe = OBSERVE_ALL, .context = 5 },
		.timeout_s = command.timeout_s,
	};

	_cleanup_(world_close) struct world world = WORLD_CLOSED;

	if (command.gdb || command.commands || command.at) {
		TRY(world_open(&world));
		world.share_files = command.world.share_files;
		world.share_network = command.world.share_network;
		/* Its own standard input is gdb's. */
		if (command.world.input)
			TRY(world_take_input(&world, command.world.input, &(bool){ false }));
		launch.world = &world;
		return debug(&command, &launch, &subject, status);
	}
	cmds_catch_interrupts();
	TRY(cmds_world_open("replay", &command.world, &world));
	launch.world = &world;
	TRY(replay_all(&command, &launch, &subject, status));
	cmds_world_tell("replay", &world, false);
	return command.story && !command.json ? tell(&launch, &subject) : NULL;
}

const struct verb verb_replay = { .page = &page, .main = replay_main };
