/* unsnarl cc, unsnarl c++: the compiler wrapper of the compiled loom. Everything
 * on the command line is the compiler's, so nothing is parsed here; the pages
 * are for unsnarl help.
 */
#include "cmds/cmds.h"
#include "loom/compile/compile.h"

static const struct options_page page_c = {
	.verb = "cc",
	.operands = "COMPILER-ARGUMENTS",
	.summary = "compile and link C so that unsnarl can observe it",
	.text = "Takes the place of the C compiler: it understands what clang understands (-c, -o, -O2, "
		"-I, -D, -l, -shared, @FILE ...) and calls it, and adds hooks to the accesses to memory "
		"that threads may share. Programs built this way behave as before when run on their own; "
		"unsnarl run observes them. With --guard FILE it builds for production instead: only the "
		"accesses of "
		"the guard set FILE have hooks, which hold back what never happened in training (--limit MS, "
		"--guard-log LOG); see unsnarl help guard.",
	.examples = "  unsnarl cc -g -O2 -pthread -o program program.c\n"
		    "  make CC=\"unsnarl cc\"\n"
		    "  CC=\"unsnarl cc\" CXX=\"unsnarl c++\" ./configure\n",
};

static const struct options_page page_cxx = {
	.verb = "c++",
	.operands = "COMPILER-ARGUMENTS",
	.summary = "the same for C++",
	.text = "Takes the place of the C++ compiler; see unsnarl help cc.",
	.examples = "  unsnarl c++ -g -O2 -pthread -o program program.cc\n",
};

static struct error *cc_main(int argc, char **argv, int *status)
{
	return compile_main(false, argc, argv, status);
}

static struct error *cxx_main(int argc, char **argv, int *status)
{
	return compile_main(true, argc, argv, status);
}

const struct verb verb_cc = { .page = &page_c, .main = cc_main };
const struct verb verb_cxx = { .page = &page_cxx, .main = cxx_main };
