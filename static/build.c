/* Makes a program of the whole program's bitcode: code generation and linking are
 * clang's, with the libraries that the original needs. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>

#include "base/process.h"
#include "static/static.h"
#include "static/whole.h"

/* ---- places ---- */

/* An access alone comes first, then the same with the locks that were taken for it. */
static void add_part(struct build_site *site, const struct scan_instruction *part, uint32_t lock)
{
	if (part->lock == UINT32_MAX) {
		*VEC_PUSH(&site->parts) = (struct build_part){ part->instruction, UINT32_MAX };
		return;
	}
	for (size_t i = 0; i < site->parts.n && part->lock == lock; i++)
		if (site->parts.items[i].instruction == part->instruction)
			site->parts.items[i].hoisted = part->section;
}

static void add_site(const struct scan *scan, const struct candidate_access *access, struct build_sites *out)
{
	struct build_site site = { .kind = access->kind, .frees = access->frees, .thread = access->thread };

	for (size_t i = 0; i < scan->parts.n && access->statement != UINT32_MAX; i++) {
		const struct scan_instruction *part = &scan->parts.items[i];

		if (part->statement == access->statement)
			add_part(&site, part, access->lock);
	}
	if (!site.parts.n)
		*VEC_PUSH(&site.parts) = (struct build_part){ access->instruction, UINT32_MAX };
	/* Both threads may do the same at one line. */
	for (size_t i = 0; i < out->n; i++)
		if (out->items[i].parts.items[0].instruction == site.parts.items[0].instruction &&
		    out->items[i].kind == site.kind) {
			VEC_FREE(&site.parts);
			return;
		}
	*VEC_PUSH(out) = site;
}

void build_sites_of(const struct scan *scan, const struct candidate *candidate, size_t most,
		    struct build_sites *out)
{
	bool locks = candidate->kind == CANDIDATE_DEADLOCK;

	/* Of a circle, only the locks that are taken while another is held: the last two. */
	for (size_t i = locks ? candidate->accesses.n / 2 : 0; i < candidate->accesses.n && out->n < most;
	     i++)
		add_site(scan, &candidate->accesses.items[i], out);
	for (size_t i = 0; i < candidate->others.n && out->n < most; i++)
		add_site(scan, &candidate->others.items[i], out);
}

void build_sites_free(struct build_sites *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		VEC_FREE(&sites->items[i].parts);
	VEC_FREE(sites);
}

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

/* The runtime lies beside the tool in a build folder, or in lib/unsnarl of an installation. */
static struct error *find_runtime(char path[PATH_MAX])
{
	static const char *const places[] = { "/loom/active", "", "/../lib/unsnarl" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return error_errno(errno, "cannot find my own program file");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int length = snprintf(path, PATH_MAX, "%s%s/libunsnarl_active.a", self, places[i]);

		if (length < PATH_MAX && access(path, R_OK) == 0)
			return NULL;
	}
	return error_new(
		"libunsnarl_active.a is missing beside %s and in ../lib/unsnarl: install unsnarl again",
		self);
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
	char runtime[PATH_MAX];
	int status;

	TRY(find_runtime(runtime));
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

struct error *static_build(const struct build_options *options)
{
	_cleanup_(whole_free) struct whole whole = { 0 };
	_cleanup_free_ char *bitcode = memory_format("%s/whole.bc", options->folder);
	char *message = NULL;

	TRY(whole_read(options->paths, options->npaths, &whole));
	if (options->sites)
		whole_hook(&whole, options->sites);
	if (LLVMVerifyModule(whole.module, LLVMReturnStatusAction, &message)) {
		struct error *error =
			error_new("the hooks made unsound code of %s: %.200s", options->paths[0], message);
		LLVMDisposeMessage(message);
		return error;
	}
	LLVMDisposeMessage(message);
	if (LLVMWriteBitcodeToFile(whole.module, bitcode) != 0)
		return error_new("cannot write %s: is the disk full?", bitcode);
	struct error *error = compile(options, &whole, bitcode);

	unlink(bitcode);
	return error;
}
