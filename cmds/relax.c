/* unsnarl relax: lets violations of runs that were right into a guard set.
 */
#include <stdio.h>
#include <string.h>

#include "cmds/cmds.h"
#include "report/guard_view.h"

struct relax_options {
	const char *set, *out;
	bool bad, held, json;
};

#define AT(member) .offset = offsetof(struct relax_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "set", .value = "FILE", .kind = OPTIONS_STRING, AT(set),
	  .help = "the guard set; also the first operand when that is one" },
	{ 'o', "output", "FILE", OPTIONS_STRING, AT(out),
	  .help = "where to write the wider set (default: over the old one)" },
	{ .name = "bad", .kind = OPTIONS_FLAG, AT(bad),
	  .help = "the runs went wrong: change nothing, tell their violations as findings" },
	{ .name = "held", .kind = OPTIONS_FLAG, AT(held),
	  .help = "widen also by violations that waiting resolved each time: they never happened, so a right run does "
		  "not speak for them" },
	CMDS_JSON_ENTRY(struct relax_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "relax",
	.operands = "[options] [SET] LOG...",
	.summary = "widen a guard set by the violations of runs that were right",
	.text = "A guarded program logs every access that came after one it never came after in training. "
		"When "
		"the run was right all the same and waiting did not help, that was no fault: its sets are "
		"widened so that it is not "
		"stalled there again. Build the program again with the new set. With --bad the runs are "
		"known to "
		"have gone wrong, and the violations are told as findings.",
	.examples = "  unsnarl relax program.guard guard.log\n"
		    "  unsnarl relax --set program.guard -o wider.guard monday.log tuesday.log\n"
		    "  unsnarl relax --bad guard.log\n",
	.entries = entries,
};

static struct error *relax(const struct relax_options *options, const struct violations *violations)
{
	_cleanup_(guard_set_free) struct guard_set set = { 0 };
	const char *out = options->out ? options->out : options->set;

	if (!options->set)
		return error_new("which guard set? Give it first, as in unsnarl relax program.guard LOG");
	TRY(guard_set_read(options->set, &set));
	const struct relaxed relaxed = violations_relax(violations, &set, options->held);

	TRY(guard_set_save(out, &set));
	(void)(options->json ? relax_json(out, &relaxed) : relax_print(out, &relaxed));
	return NULL;
}

static bool is_set(const char *path)
{
	struct guard_set set = { 0 };
	struct error *error = guard_set_read(path, &set);
	bool good = !error;

	error_free(error);
	guard_set_free(&set);
	return good;
}

static struct error *relax_main(int argc, char **argv, int *status)
{
	struct relax_options options = { 0 };
	_cleanup_(violations_free) struct violations violations = { 0 };
	char **operands;

	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (!options.set && operands[0] && is_set(operands[0]))
		options.set = *operands++;
	if (!operands[0])
		return error_new("no log to learn from: name the file that the guarded program logged to");
	TRY(violations_read_all(operands, &violations));
	if (violations.damaged)
		guard_damaged_print("relax", violations.damaged);
	if (!options.bad)
		return relax(&options, &violations);
	(void)(options.json ? guard_log_json("relax", &violations) : guard_log_print(&violations));
	*status = violations.list.n > 0;
	return NULL;
}

const struct verb verb_relax = { .page = &page, .main = relax_main };
