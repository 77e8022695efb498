/* unsnarl scan: candidates for concurrency bugs, from the program's text alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "cmds/observed.h"
#include "cmds/scan_kept.h"
#include "cmds/scan_progress.h"
#include "loom/launch.h"
#include "report/answer.h"
#include "report/candidate.h"
#include "report/text.h"
#include "report/words.h"
#include "static/static.h"

struct scan_command {
	uint64_t top;
	const char *why, *store;
	double seconds;
	bool all, why_pruned, json;
};

#define AT(member) .offset = offsetof(struct scan_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ 'n', "top", "N", OPTIONS_NUMBER, AT(top), .low = 1, .high = 1000000,
	  .help = "show the best N candidates (default 10)" },
	{ .name = "all", .kind = OPTIONS_FLAG, AT(all), .help = "show all candidates" },
	{ .name = "why-pruned", .kind = OPTIONS_FLAG, AT(why_pruned),
	  .help = "tell how many pairs were left out, and by which rule" },
	{ .name = "why", .value = "PAIR", .kind = OPTIONS_STRING, AT(why),
	  .help = "tell of one pair of lines, FILE:LINE,FILE:LINE, why it is a candidate or none" },
	{ .name = "time", .value = "S", .kind = OPTIONS_SECONDS, AT(seconds), .low = 1, .high = 1000000,
	  .help = "look for candidates for S seconds at most (default: until all is looked at)" },
	CMDS_STORE_ENTRY(struct scan_command),
	CMDS_JSON_ENTRY(struct scan_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "scan",
	.operands = "[options] PROGRAM",
	.summary = "list places where threads may get in each other's way, without running",
	.text = "Reads the bitcode that unsnarl cc keeps in a program and in the libraries it needs, follows "
		"its pointers, threads and locks, and lists candidates: pairs of accesses that may happen at "
		"a time, operations that another thread can come into the middle of, and locks that are "
		"taken in a circle. What holds no bitcode is not seen. Candidates are no findings: unsnarl "
		"verify tries them, and what a program never does in its runs is listed all the same. "
		"Locks only change the order of the list; left out is only what cannot happen at a time. "
		"When the store holds runs of the program, candidates whose memory no run saw shared go "
		"last.\n\n"
		"Instead of a program, files that clang-19 -c -emit-llvm wrote may be given.\n\n"
		"Exit status: 0 no candidate, 1 there are some, 2 the program could not be read.",
	.examples = "  unsnarl scan ./server\n"
		    "  unsnarl scan --why queue.c:41,queue.c:77 ./server\n",
	.entries = entries,
};

/* One line for each, however often the same place makes the same. */
static void print_threads(const struct scan *scan)
{
	for (size_t i = 0; i < scan->roots.n;) {
		_cleanup_free_ char *root = text_clean(scan->roots.items[i]);
		size_t same = 1;

		while (i + same < scan->roots.n && !strcmp(scan->roots.items[i], scan->roots.items[i + same]))
			same++;
		printf("%s%s", i ? "         " : "Threads: ", root);
		printf(same > 1 ? ", %zu of them\n" : "\n", same);
		i += same;
	}
}

static void print(const struct scan_command *command, const char *program, const struct scan *scan,
		  double seconds)
{
	_cleanup_free_ char *path = text_path(program);
	_cleanup_free_ char *count = words_count(scan->candidates.n, "candidate", "candidates");
	_cleanup_free_ char *units = words_count(scan->units, "unit", "units");
	_cleanup_free_ char *took = words_seconds(seconds);
	size_t shown = command->all || command->top > scan->candidates.n ? scan->candidates.n : command->top;

	printf("%s: %s in %s of %zu functions, %s\n", path, count, units, scan->functions, took);
	for (size_t i = 0; i < scan->skipped.n; i++) {
		_cleanup_free_ char *library = text_path(scan->skipped.items[i]);

		printf("%s holds no bitcode: what it does is not seen\n", library);
	}
	print_threads(scan);
	printf("\n");
	for (size_t i = 0; i < shown; i++) {
		candidate_print(&scan->candidates.items[i], stdout);
		printf("\n");
	}
	if (shown < scan->candidates.n)
		printf("%zu more; --all shows them\n", scan->candidates.n - shown);
	if (scan->dropped)
		printf("%llu further ones, all less likely, were not kept\n",
		       (unsigned long long)scan->dropped);
	scan_print_unfinished(scan, stdout);
	if (command->why_pruned)
		scan_print_pruned(scan, stdout);
}

static void print_json(const struct scan_command *command, const char *program, const struct scan *scan,
		       double seconds)
{
	json_t *answer = answer_new("scan"), *findings = json_array();

	for (size_t i = 0; i < scan->candidates.n && (command->all || i < command->top); i++)
		json_array_append_new(findings, candidate_json(&scan->candidates.items[i]));
	json_object_set_new(answer, "program", answer_text(program));
	json_object_set_new(answer, "seconds", json_real(seconds));
	json_object_set_new(answer, "candidates", answer_count(scan->candidates.n));
	json_object_set_new(answer, "scan", scan_json(scan));
	json_object_set_new(answer, "findings", findings);
	answer_print(answer);
}

static struct error *explain(const struct llvm_entrances *llvm, const struct scan_options *options,
			     const char *why)
{
	const char *comma = strchr(why, ',');
	_cleanup_(pairs_told_free) struct pairs_told told = { 0 };

	if (!comma)
		return error_new("--why takes two places, as in --why queue.c:41,queue.c:77; not %s", why);
	_cleanup_free_ char *first = memory_format("%.*s", (int)(comma - why), why);

	const char *const places[] = { first, comma + 1 };

	TRY(llvm->static_why(options, places, &told));
	candidate_print_why(&told, places, stdout);
	return NULL;
}

/* For hunts and diagnoses of the same build; bitcode files are no program. What cannot be kept is no reason not to
 * answer. */
static void keep(const struct scan_command *command, const char *program, const struct scan *scan)
{
	_cleanup_free_ char *path = NULL;
	enum loom loom = LOOM_COMPILED;
	uint64_t build;
	struct error *error = launch_check(program, &loom, &path, &build);

	if (error) {
		error_free(error);
		return;
	}
	error = scan_keep(command->store, build, scan);
	if (error)
		fprintf(stderr, "unsnarl scan: %s; hunts will not know of these candidates\n",
			error->message);
	error_free(error);
}

static struct error *scan_main(int argc, char **argv, int *status)
{
	struct scan_command command = { .top = 10, .store = CMDS_STORE };
	_cleanup_(scan_free) struct scan scan = { 0 };
	char **operands;
	double start = cmds_now();

	TRY(options_parse(&page, argc, argv, &command, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to look at: give its path, as in unsnarl scan ./program");
	struct scan_options options = { .paths = (const char *const *)operands,
					.most = 20000,
					.seconds = command.seconds };

	while (operands[options.npaths])
		options.npaths++;
	const struct llvm_entrances *llvm;

	TRY(llvm_load(&llvm));
	struct error *error =
		command.why ? explain(llvm, &options, command.why) : scan_with_bar(llvm, options, &scan);

	if (error || command.why)
		return error;
	TRY(observed_rank(command.store, operands[0], &scan));
	keep(&command, operands[0], &scan);
	(command.json ? print_json : print)(&command, operands[0], &scan, cmds_now() - start);
	*status = scan.candidates.n ? 1 : 0;
	return NULL;
}

const struct verb verb_scan = { .page = &page, .main = scan_main };
