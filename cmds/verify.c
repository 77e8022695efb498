/* unsnarl verify: tries candidates of a scan by holding threads where they would get
 * in each other's way. What fails then is harmful.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "cmds/cmds.h"
#include "cmds/observed.h"
#include "cmds/scan_progress.h"
#include "cmds/verify.h"
#include "llvm/llvm.h"
#include "loom/world/world.h"
#include "report/text.h"

#define USUAL_CANDIDATES 10
#define CONFIRM_SECONDS 30

#define AT(member) .offset = offsetof(struct verify_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "all", .kind = OPTIONS_FLAG, AT(all),
	  .help = "try all candidates, best first (default: the best 10)" },
	{ .name = "first", .kind = OPTIONS_FLAG, AT(first), .help = "stop at the first harmful one" },
	{ 'b', "budget", "S", OPTIONS_SECONDS, AT(budget_s),
	  .help = "seconds for all candidates together (default 300; 0: no limit)" },
	CMDS_VERDICT_ENTRIES(struct verify_command),
	CMDS_WORLD_ENTRIES(struct verify_command),
	{ .name = "slice", .kind = OPTIONS_FLAG, AT(slice),
	  .help = "try each candidate on the part of the program that matters to it" },
	{ .name = "no-hunt", .kind = OPTIONS_FLAG, AT(no_hunt),
	  .help = "believe every failure: no experiments, no schedule for replay" },
	{ .name = "plain", .value = "N", .kind = OPTIONS_NUMBER, AT(plain), .low = 1, .high = 100000,
	  .help = "runs without delay before all others (default 3)" },
	{ .name = "again", .value = "N", .kind = OPTIONS_NUMBER, AT(again), .low = 0, .high = 100000,
	  .help = "runs like one that failed, to tell how surely it does (default 4)" },
	{ .name = "link", .value = "ARG", .kind = OPTIONS_STRING, AT(link),
	  .help = "an object, library or option that the program needs and that holds no bitcode" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "for orders by chance (default: a new one)" },
	CMDS_STORE_ENTRY(struct verify_command),
	CMDS_JSON_ENTRY(struct verify_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "verify",
	.operands = "[options] [CANDIDATE...] -- PROGRAM ARGS",
	.summary = "try the candidates of a scan: which of them make the program fail?",
	.text = "Builds the program again from the bitcode in it, with hooks at the accesses of one "
		"candidate "
		"alone, and runs it freely. A thread that comes to such an access is held until another is "
		"about "
		"to touch the same memory, or the time is up; then the two go in either order. The time is "
		"1, "
		"2, 4 and so on up to 512 ms. A run fails as in unsnarl run; a candidate is harmful when a "
		"run "
		"fails in which threads met there, and experiments confirm it: the program is made to fail "
		"under control, and what the candidate claims is forbidden and forced there, as unsnarl "
		"diagnose does. That also gives a schedule for unsnarl replay. What fails for another reason "
		"is told apart.\n\n"
		"A CANDIDATE is the number that unsnarl scan gives it, its id, or two lines as "
		"FILE:LINE,FILE:LINE.\n\n"
		"Exit status: 0 none is harmful, 1 at least one is, 2 the program could not be tried.",
	.examples = "  unsnarl verify -- ./server --port 0\n"
		    "  unsnarl verify 3 5 --expect right.txt -- ./server\n",
	.entries = entries,
};

/* ---- which ---- */

static struct error *choose(struct verify_session *session)
{
	const struct verify_command *command = session->command;
	const struct scan *scan = &session->scan;

	for (char **name = command->chosen; *name; name++) {
		bool found = false;

		for (size_t i = 0; i < scan->candidates.n && !found; i++)
			if (candidate_is(&scan->candidates.items[i], *name)) {
				VEC_PUSH(&session->list)->candidate = &scan->candidates.items[i];
				found = true;
			}
		if (!found)
			return error_new("there is no candidate %s in %s; unsnarl scan --all %s lists them",
					 *name, command->program[0], command->program[0]);
	}
	for (size_t i = 0; !*command->chosen && i < scan->candidates.n; i++)
		if (command->all || i < USUAL_CANDIDATES)
			VEC_PUSH(&session->list)->candidate = &scan->candidates.items[i];
	return NULL;
}

/* Were all lines of a candidate hooked together before, and nothing failed? */
static unsigned covered_by(const struct verify_session *session, size_t number)
{
	const struct candidate *candidate = session->list.items[number].candidate;

	for (size_t i = 0; i < number; i++) {
		const struct verified *before = &session->list.items[i];
		bool all = before->tried && candidate->kind != CANDIDATE_DEADLOCK;

		for (size_t a = 0; all && a < candidate->accesses.n; a++) {
			bool there = false;

			for (size_t b = 0; b < before->candidate->accesses.n && !there; b++)
				there = before->candidate->accesses.items[b].statement ==
					candidate->accesses.items[a].statement;
			all = there;
		}
		if (all)
			return before->candidate->rank;
	}
	return 0;
}

/* ---- is it the cause? ---- */

static struct error *confirm(struct verify_session *session, size_t failed)
{
	const struct verify_command *command = session->command;
	const struct diagnosis_options options = {
		.world = &session->world,
		.loom = LOOM_COMPILED,
		.program = session->path,
		.argv = command->program,
		.build = session->build,
		.seed = command->seed,
		.jobs = (unsigned)cmds_processors(),
		.time_s = CONFIRM_SECONDS,
		.timeout_s = command->timeout_s,
		.check = command->check,
		.expect = command->expect,
		.store = command->store,
		.stop = cmds_interrupted,
	};

	progress_show(session->bar, session->done, "forcing and forbidding what failed");
	return verify_confirm(&options, &session->scan, failed, &session->list);
}

/* ---- all ---- */

static bool has_failed(const struct verified *verified)
{
	return verified->tried && verified->result.verdict == TESTER_HARMFUL;
}

static void tell(const struct verify_session *session, size_t number)
{
	const struct verified *verified = &session->list.items[number];

	if (!session->command->json && (verified->tried || verified->covered || verified->beside))
		verify_print(verified);
}

/* A candidate is settled: say so. */
static struct error *finish(struct verify_session *session, size_t number)
{
	/* One diagnosis tries all candidates. */
	if (has_failed(&session->list.items[number]) && !session->command->no_hunt && !session->confirmed) {
		session->confirmed = true;
		TRY(confirm(session, number));
		for (size_t i = 0; i < session->list.n; i++)
			if (session->list.items[i].beside && i != number)
				tell(session, i);
	}
	tell(session, number);
	session->done++;
	return NULL;
}

static bool is_over(const struct verify_session *session)
{
	const struct verify_command *command = session->command;

	return session->over || cmds_interrupted() ||
	       (command->budget_s > 0 && cmds_now() - session->start > command->budget_s);
}

static bool any_harmful(const struct verify_session *session)
{
	for (size_t i = 0; i < session->list.n; i++)
		if (verified_is_harmful(&session->list.items[i]))
			return true;
	return false;
}

/* All candidates with these delays. */
static struct error *verify_round(struct verify_session *session, const unsigned steps[2])
{
	for (size_t i = 0; i < session->list.n && !is_over(session); i++) {
		struct verified *verified = &session->list.items[i];

		if (verified->result.settled || verified->covered || verified->beside)
			continue;
		session->now = verified->candidate->variable;
		if (steps[0] == 0)
			verified->covered = covered_by(session, i);
		if (!verified->covered)
			TRY(verify_try(session, verified, steps));
		bool always = verified->tried && verified->result.verdict == TESTER_ALWAYS_FAILS;

		/* The list may grow. */
		if (verified->covered || verified->result.settled)
			TRY(finish(session, i));
		session->over |= always || (session->command->first && any_harmful(session));
	}
	return NULL;
}

/* Short delays for all, then longer ones: most bugs show at once, and a long wait for one candidate keeps the
 * others waiting. */
static struct error *verify_all(struct verify_session *session)
{
	static const unsigned rounds[][2] = { { 0, 2 }, { 3, 6 }, { 7, TESTER_DELAYS - 1 } };

	for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
		struct error *error = verify_round(session, rounds[i]);

		/* Ctrl-C ends what is being built or run, too; what is known is told all the same. */
		if (error && !cmds_interrupted())
			return error;
		error_free(error);
	}
	for (size_t i = 0; i < session->list.n; i++)
		if (session->list.items[i].tried && !session->list.items[i].result.settled &&
		    !session->list.items[i].beside)
			tell(session, i);
	return NULL;
}

static void remove_folder(const char *folder)
{
	DIR *files = *folder ? opendir(folder) : NULL;

	for (struct dirent *file; files && (file = readdir(files));)
		unlinkat(dirfd(files), file->d_name, 0);
	if (files)
		closedir(files);
	if (*folder)
		rmdir(folder);
}

static void session_free(struct verify_session *session)
{
	if (session->world_open)
		world_close(&session->world);
	progress_stop(session->bar);
	verified_free(&session->list);
	scan_free(&session->scan);
	remove_folder(session->folder);
}

static struct error *start(struct verify_session *session)
{
	const char *place = getenv("TMPDIR");

	snprintf(session->folder, sizeof session->folder, "%s/unsnarl-verify-XXXXXX",
		 place && strlen(place) < 200 ? place : "/tmp");
	if (!mkdtemp(session->folder)) {
		struct error *error =
			error_errno(errno, "cannot make a temporary folder in %s", place ? place : "/tmp");

		session->folder[0] = '\0';
		return error;
	}
	TRY(llvm_load(&session->llvm));
	TRY(scan_with_bar(session->llvm,
			  (struct scan_options){ .paths = &session->path, .npaths = 1, .most = 20000 },
			  &session->scan));
	TRY(observed_rank(session->command->store, session->path, &session->scan));
	TRY(choose(session));
	session->bar = progress_start(STDERR_FILENO, session->list.n);
	return NULL;
}

/* What stands behind -- is the program's. */
static struct error *split(int argc, char **argv, struct verify_command *command, int *own)
{
	for (*own = 1; *own < argc && strcmp(argv[*own], "--") != 0; ++*own)
		;
	command->program = argv + *own + (*own < argc);
	return NULL;
}

static struct error *verify_main(int argc, char **argv, int *status)
{
	struct verify_command command = { .timeout_s = 10,
					  .budget_s = 300,
					  .again = 4,
					  .plain = 3,
					  .store = CMDS_STORE,
					  .seed = cmds_seed() };
	_cleanup_(session_free) struct verify_session session = { .command = &command, .start = cmds_now() };
	_cleanup_free_ char *path = NULL;
	int own;

	TRY(split(argc, argv, &command, &own));
	bool given = own < argc && argv[own + 1];

	if (own < argc)
		argv[own] = NULL;
	TRY(options_parse(&page, own, argv, &command, &command.chosen));
	if (!command.chosen)
		return NULL;
	if (!given)
		return error_new("no program to try: give it after --, as in unsnarl verify -- ./program");
	enum loom loom = LOOM_COMPILED;

	TRY(launch_check(command.program[0], &loom, &path, &session.build));
	session.path = path;
	cmds_catch_interrupts();
	TRY(cmds_world_open("verify", &command.world, &session.world));
	session.world_open = true;
	TRY(start(&session));
	TRY(verify_all(&session));
	progress_stop(session.bar);
	session.bar = NULL;
	double seconds = cmds_now() - session.start;
	bool harmful = any_harmful(&session);

	if (command.json)
		verify_print_json(path, &session.list, cmds_interrupted(), seconds);
	else
		verify_print_summary(&session.list, cmds_interrupted(), seconds);
	*status = harmful ? 1 : cmds_interrupted() ? CMDS_INTERRUPTED : 0;
	return NULL;
}

const struct verb verb_verify = { .page = &page, .main = verify_main };
