/* unsnarl exec: becomes the program, with the observers on and nothing recorded.
 * For measuring what observing costs, and for debuggers.
 */
#include "base/memory.h"
#include "cmds/cmds.h"
#include "loom/launch.h"

struct exec_options {
	unsigned observe;
	uint64_t context;
	unsigned loom;
	const char *only;
};

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "observe", .value = "LIST", .kind = OPTIONS_WORDS,
	  .offset = offsetof(struct exec_options, observe), .words = cmds_observers,
	  .help = "what to observe: pairs, predecessors, edges, all or none (default all)" },
	CMDS_CONTEXT_ENTRY(struct exec_options),
	CMDS_LOOM_ENTRY(struct exec_options),
	CMDS_PROGRAM_ENTRY(struct exec_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "exec",
	.operands = "[options] -- PROGRAM ARGS",
	.summary = "become the program, observed, nothing recorded",
	.text = "Sets up the observers and replaces itself by the program. What is observed is thrown away. "
		"For measuring what observing costs, and for running under a debugger.",
	.entries = entries,
	.program = true,
};

static struct error *exec_main(int argc, char **argv, int *status)
{
	struct exec_options options = { .observe = OBSERVE_ALL, .context = 5 };
	_cleanup_free_ char *path = NULL;
	uint64_t build;
	char **operands;

	(void)status;
	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to run: give it after --, as in unsnarl exec -- ./program");
	enum loom loom = (enum loom)options.loom;

	TRY(launch_check(operands[0], &loom, &path, &build));
	TRY(cmds_check_only(options.only, loom));
	struct launch_options launch = {
		.loom = loom,
		.only = options.only,
		.path = path,
		.argv = operands,
		.area = { .observe = options.observe, .context = (uint32_t)options.context },
	};

	return launch_exec(&launch);
}

const struct verb verb_exec = { .page = &page, .main = exec_main, .hidden = true };
