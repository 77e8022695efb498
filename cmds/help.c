/* unsnarl help [VERB]: the list of verbs, or a verb's page. The text of a page
 * comes from the same table that parses the verb's options, so that the two
 * cannot differ.
 */
#include <string.h>

#include "base/memory.h"
#include "cmds/cmds.h"

static const struct options_page page = {
	.verb = "help",
	.operands = "[VERB]",
	.summary = "this list, or all about one verb",
	.text = "Prints the list of verbs, or the description of one of them.",
};

static void print_overview(void)
{
	puts("Usage: unsnarl VERB [options] [-- PROGRAM ARGS]\n\n"
	     "Finds out why a C or C++ program with threads fails now and then.\n\n"
	     "Verbs:");
	for (const struct verb *const *verb = cmds_verbs; *verb; verb++) {
		if ((*verb)->hidden)
			continue;
		printf("  %-8s", (*verb)->page->verb);
		options_fill(stdout, (*verb)->page->summary, 11, 10);
	}
	puts("\nTo begin with:\n"
	     "  unsnarl cc -g -O2 -pthread -o program program.c\n"
	     "  unsnarl -- ./program\n\n"
	     "unsnarl help VERB tells more; so does man unsnarl. unsnarl --version says which\n"
	     "version this is.");
}

static struct error *help_main(int argc, char **argv, int *status)
{
	char **operands;

	(void)status;
	/* Also reached without a verb, and by --help in its place. */
	if (argc < 2) {
		print_overview();
		return NULL;
	}
	TRY(options_parse(&page, argc, argv, NULL, &operands));
	if (!operands)
		return NULL;
	if (operands[1])
		return error_new("help explains one verb at a time, not %s as well", operands[1]);
	const struct verb *verb = cmds_find(operands[0]);

	if (!verb)
		return cmds_unknown(operands[0]);
	options_help(verb->page, stdout);
	return NULL;
}

const struct verb verb_help = { .page = &page, .main = help_main };
