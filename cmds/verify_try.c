/* Tries one candidate: builds the program with its hooks, or a slice of it, and lets the
 * active tester run that. Where runs take long, a first slice is asked only whether
 * threads ever meet there, for which no result needs to be computed.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "cmds/verify.h"

/* A candidate takes about 17 runs, and a further slice about half a second to make; with the hooks of unsnarl cc a
 * run takes about twice its time. */
#define LONG_RUN_S 0.06

static void show(void *context, unsigned delay_ms, unsigned runs)
{
	struct verify_session *session = context;
	_cleanup_free_ char *words = memory_format("%s: run %u, %u ms", session->now, runs, delay_ms);

	progress_show(session->bar, session->done, words);
}

static double left_s(const struct verify_session *session)
{
	double left = session->command->budget_s - (cmds_now() - session->start);

	return session->command->budget_s > 0 ? (left > 0.1 ? left : 0.1) : 0;
}

/* How the program is run, with its oracle. */
static struct launch_options launch_of(struct verify_session *session, const char *program)
{
	const struct verify_command *command = session->command;

	return (struct launch_options){ .path = program,
					.world = &session->world,
					.argv = command->program,
					.timeout_s = command->timeout_s,
					.expect = command->expect,
					.check = command->check };
}

static void describe(const struct build_sites *sites, bool cross, struct tester_site *flags,
		     struct tester_options *options)
{
	for (size_t i = 0; i < sites->n; i++) {
		for (size_t p = 0; p < sites->items[i].parts.n; p++) {
			options->hoisted |= sites->items[i].parts.items[p].hoisted != UINT32_MAX;
			options->alone |= sites->items[i].parts.items[p].alone;
		}
		flags[i] = (struct tester_site){ .writes = sites->items[i].kind != SITE_READ,
						 .frees = sites->items[i].frees,
						 .cross = cross };
	}
	options->sites = flags;
	options->nsites = (unsigned)sites->n;
}

/* One candidate while it is tried. */
struct attempt {
	struct verify_session *session;
	struct verified *verified;
	const unsigned *steps; /* the first and the last delay */
	struct build_sites sites;
};

/* Runs a build of the candidate; `until_met` asks nothing but whether threads meet. */
static struct error *run(const struct attempt *attempt, const char *program, bool until_met,
			 struct tester_result *result)
{
	struct verify_session *session = attempt->session;
	const struct verify_command *command = session->command;
	_cleanup_free_ struct tester_site *flags = memory_alloc((attempt->sites.n + 1) * sizeof *flags);
	struct tester_options options = { .launch = launch_of(session, program),
					  .first = attempt->steps[0],
					  .last = attempt->steps[1],
					  .seed = command->seed,
					  .seconds = left_s(session),
					  .plain = until_met ? 1 : (unsigned)command->plain,
					  .again = (unsigned)command->again,
					  .until_met = until_met,
					  .stop = cmds_interrupted,
					  .progress = show,
					  .context = session };

	describe(&attempt->sites, attempt->verified->candidate->kind == CANDIDATE_DEADLOCK, flags, &options);
	if (until_met)
		options.launch.expect = options.launch.check = NULL;
	return tester_run(&options, result);
}

static struct error *build(const struct attempt *attempt, bool slice, bool meeting, const char *program)
{
	struct verify_session *session = attempt->session;
	const struct verify_command *command = session->command;
	char *link[] = { (char *)(uintptr_t)command->link, NULL };

	return session->llvm->static_build(
		&(struct build_options){ .paths = &session->path,
					 .npaths = 1,
					 .sites = &attempt->sites,
					 .slice = slice,
					 .prints = command->expect || command->check,
					 .meeting = meeting,
					 .hook = true,
					 .link = command->link ? link : NULL,
					 .folder = session->folder,
					 .output = program });
}

/* Does a run of the program take so long that it pays to ask first, on a slice, whether threads meet at all? */
static struct error *is_long(struct verify_session *session, bool *out)
{
	struct launch_options launch = launch_of(session, session->path);

	/* A run that is stopped may leave files behind. */
	if (!session->length_known && !session->world.share_files) {
		struct run run = { 0 };

		launch.timeout_s = LONG_RUN_S;
		launch.expect = launch.check = NULL;
		TRY(launch_run(&launch, &run));
		session->is_long = run.outcome == OUTCOME_TIMEOUT;
		run_free(&run);
	}
	session->length_known = true;
	*out = session->is_long;
	return NULL;
}

/* Sets `meets` unless runs of a slice say that no two threads come there with these delays. */
static struct error *try_meeting(const struct attempt *attempt)
{
	struct verify_session *session = attempt->session;
	struct verified *verified = attempt->verified;
	_cleanup_free_ char *program =
		memory_format("%s/meeting%u", session->folder, verified->candidate->rank);
	bool worth;

	TRY(is_long(session, &worth));
	verified->meets = !worth;
	if (!worth)
		return NULL;
	if (access(program, X_OK) < 0)
		TRY(build(attempt, true, true, program));
	TRY(run(attempt, program, true, &verified->meeting));
	verified->meets = verified->meeting.met || verified->meeting.plain_failed;
	verified->sliced = true;
	if (verified->meets)
		unlink(program);
	else
		verified->result = verified->meeting;
	return NULL;
}

/* By failure, on a slice if that was asked for; when that does not even run, on the whole program. */
static struct error *try_failing(const struct attempt *attempt)
{
	struct verify_session *session = attempt->session;
	struct verified *verified = attempt->verified;
	_cleanup_free_ char *program =
		memory_format("%s/program%u", session->folder, verified->candidate->rank);

	if (access(program, X_OK) < 0) {
		verified->sliced = session->command->slice;
		TRY(build(attempt, verified->sliced, false, program));
	}
	TRY(run(attempt, program, false, &verified->result));
	if (verified->sliced && verified->result.plain_failed) {
		fprintf(stderr,
			"unsnarl verify: the slice for candidate %u does not run as the program does; the "
			"whole program is used\n",
			verified->candidate->rank);
		tester_result_free(&verified->result);
		verified->result = (struct tester_result){ 0 };
		verified->sliced = false;
		TRY(build(attempt, false, false, program));
		TRY(run(attempt, program, false, &verified->result));
	}
	if (verified->result.settled)
		unlink(program);
	return NULL;
}

static struct error *try(struct attempt *attempt)
{
	struct verified *verified = attempt->verified;
	const unsigned from_start[2] = { 0, attempt->steps[1] };

	if (attempt->session->command->slice && !verified->meets) {
		TRY(try_meeting(attempt));
		if (!verified->meets)
			return NULL;
		/* What the slice needed longer delays for, the program may meet with short ones. */
		attempt->steps = from_start;
		verified->result = (struct tester_result){ 0 };
	}
	return try_failing(attempt);
}

struct error *verify_try(struct verify_session *session, struct verified *verified, const unsigned steps[2])
{
	struct attempt attempt = { .session = session, .verified = verified, .steps = steps };
	double start = cmds_now();

	build_sites_of(&session->scan, verified->candidate, ACTIVE_SITES, &attempt.sites);
	struct error *error = try(&attempt);

	build_sites_free(&attempt.sites);
	verified->tried = verified->result.runs || verified->result.plain;
	verified->seconds += cmds_now() - start;
	return error;
}
