/* Makes a program of the whole program's bitcode: code generation and linking are
 * clang's, with the libraries that the original needs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/installed.h"
#include "base/process_run.h"
#include "static/slicer.h"

/* ---- the linker's command line ---- */

struct command {
	VEC(const char *) words;
	VEC(char *) owned;
};

static void add(struct command *command, const char *word)
{
	*VEC_PUSH(&command->words) = word;
}

static void add_own(struct command *command, char *word)
{
	*VEC_PUSH(&command->owned) = word;
	add(command, word);
}

static void command_free(struct command *command)
{
	for (size_t i = 0; i < command->owned.n; i++)
		free(command->owned.items[i]);
	VEC_FREE(&command->owned);
	VEC_FREE(&command->words);
}

static bool is_among(char *const *items, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(items[i], name) == 0)
			return true;
	return false;
}

/* The libraries of the original, less those whose bitcode is in the module and those that clang adds. */
static void add_libraries(struct command *command, const struct bitcodes *bitcodes)
{
	for (size_t i = 0; i < bitcodes->folders.n; i++) {
		if (strchr(bitcodes->folders.items[i], '$'))
			continue;
		add_own(command, memory_format("-L%s", bitcodes->folders.items[i]));
		add_own(command, memory_format("-Wl,-rpath,%s", bitcodes->folders.items[i]));
	}
	for (size_t i = 0; i < bitcodes->libraries.n; i++) {
		const char *name = bitcodes->libraries.items[i];

		if (is_among(bitcodes->merged.items, bitcodes->merged.n, name) ||
		    strncmp(name, "libc.so", 7) == 0 || strncmp(name, "ld-linux", 8) == 0 ||
		    is_among(bitcodes->libraries.items, i, name))
			continue;
		if (strchr(name, '/'))
			add(command, name);
		else
			add_own(command, memory_format("-l:%s", name));
	}
	add(command, "-lm");
	add(command, "-ldl");
}

static bool needs_cxx(const struct bitcodes *bitcodes)
{
	for (size_t i = 0; i < bitcodes->libraries.n; i++)
		if (strncmp(bitcodes->libraries.items[i], "libstdc++", 9) == 0)
			return true;
	return false;
}

static struct error *compile(const struct build_options *options, const struct whole *whole,
			     const char *bitcode)
{
	_cleanup_(command_free) struct command command = { 0 };
	_cleanup_free_ char *runtime = NULL;
	int status;

	TRY(installed_find("libunsnarl_active.a", &runtime));
	const char *first[] = { needs_cxx(&whole->bitcodes) ? "clang++-19" : "clang-19",
				"-O2",
				"-w",
				"-Xclang",
				"-disable-llvm-passes",
				"-o",
				options->output,
				"-x",
				"ir",
				bitcode,
				"-x",
				"none",
				runtime,
				"-pthread",
				"-rdynamic" };

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		add(&command, first[i]);
	for (char *const *more = options->link; more && *more; more++)
		add(&command, *more);
	add_libraries(&command, &whole->bitcodes);
	add(&command, NULL);
	TRY(process_run((char *const *)command.words.items, &status));
	if (status)
		return error_new(
			"%s cannot be built again from its bitcode (see the linker's message above); "
			"name the objects and libraries that hold no bitcode with --link",
			options->paths[0]);
	return NULL;
}

static void cut(struct scanner *scanner, const struct build_options *options)
{
	_cleanup_(slicer_free) struct slicer slicer;

	points_start(&scanner->points, &scanner->whole, NULL, NULL);
	threads_start(&scanner->threads, &scanner->points);
	slicer_start(&slicer, scanner, options);
	if (options->report)
		slicer_report(&slicer, options->report);
	slicer_cut(&slicer);
}

static struct error *check(const struct build_options *options, const struct whole *whole)
{
	char *message = NULL;
	struct error *error = NULL;

	if (LLVMVerifyModule(whole->module, LLVMReturnStatusAction, &message))
		error = error_new("%s made unsound code of %s: %.200s",
				  options->slice ? "slicing" : "the hooks", options->paths[0], message);
	LLVMDisposeMessage(message);
	return error;
}

/* What a slice leaves behind: blocks that nobody comes to, loops that do nothing, functions nobody calls. */
static void tidy(struct whole *whole)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef failed = LLVMRunPasses(whole->module,
					    "function(simplifycfg,adce,loop-simplify,lcssa,loop(loop-"
					    "deletion),simplifycfg,adce),globaldce",
					    NULL, options);

	if (failed)
		LLVMConsumeError(failed);
	LLVMDisposePassBuilderOptions(options);
}

struct error *static_build(const struct build_options *options)
{
	_cleanup_(scanner_free) struct scanner scanner = { 0 };
	_cleanup_free_ char *bitcode = memory_format("%s/whole.bc", options->folder);
	struct whole *whole = &scanner.whole;

	TRY(whole_read(options->paths, options->npaths, whole));
	if (options->slice)
		cut(&scanner, options);
	if (options->sites && options->hook)
		whole_hook(whole, options->sites);
	TRY(check(options, whole));
	if (options->slice)
		tidy(whole);
	if (LLVMWriteBitcodeToFile(whole->module, bitcode) != 0)
		return error_new("cannot write %s: is the disk full?", bitcode);
	struct error *error = compile(options, whole, bitcode);

	unlink(bitcode);
	return error;
}
