/* Starts programs on the binary loom: under Valgrind, with loom/grind as its tool.
 * The tool is started directly, without Valgrind's launcher, which would only find
 * it; what the program executes in its turn goes through the launcher.
 */
#include "loom/binary.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"

#define TOOL "unsnarl-amd64-linux"
#define CORE "vgpreload_core-amd64-linux.so"
#define ANOTHER_TOOL "none-amd64-linux" /* of Valgrind's own, beside its core: it holds the version's name */
#define VERSION "3.19.0"                /* that loom/grind/meson.build asks for */
#define HOW_TO_MEND                 \
	"install Valgrind " VERSION \
	" (Debian: apt-get install valgrind), or build the program with: unsnarl cc"

/* The tool lies in a folder of its own, in a build folder or in an installation. */
static struct error *find_folder(char **out)
{
	static const char *const places[] = { "/loom/grind", "/../lib/unsnarl/grind" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return error_errno(errno, "cannot find my own program file");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		_cleanup_free_ char *tool = memory_format("%s%s/" TOOL, self, places[i]);

		if (access(tool, X_OK) == 0) {
			*out = memory_format("%s%s", self, places[i]);
			return NULL;
		}
	}
	return error_new("this unsnarl was built without the binary loom, which programs without hooks need: "
			 "install Valgrind " VERSION
			 " (Debian: apt-get install valgrind) and build unsnarl again, or "
			 "build the program with: unsnarl cc");
}

/* The version that the file at `path` names, in `out`; "" when it names none, or cannot be read. */
static void read_version(const char *path, char out[32])
{
	static const char name[] = "valgrind-";
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	size_t at = 0, n = 0;
	int c;

	while (file && n < 31 && (c = getc_unlocked(file)) != EOF) {
		if (at < sizeof name - 1) {
			at = c == name[at] ? at + 1 : c == name[0];
		} else if (isdigit(c) || (n && (c == '.' || isalpha(c)))) {
			out[n++] = (char)c;
		} else if (n) {
			break;
		} else {
			at = c == name[0];
		}
	}
	out[n] = '\0';
}

/* Is what the core loads into programs of the version that the tool is linked with? */
static struct error *check_version(const char *core)
{
	char real[PATH_MAX], version[32];

	if (!realpath(core, real))
		return error_errno(errno, "cannot find %s", core);
	*strrchr(real, '/') = '\0';
	_cleanup_free_ char *tool = memory_format("%s/" ANOTHER_TOOL, real);

	read_version(tool, version);
	if (!*version || strcmp(version, VERSION) == 0)
		return NULL;
	return error_new(
		"Valgrind, which programs without hooks need, is version %s in %s, but unsnarl was built "
		"with " VERSION ": build unsnarl again with that one, or " HOW_TO_MEND,
		version, real);
}

static struct error *find_core(const char *folder)
{
	_cleanup_free_ char *core = memory_format("%s/" CORE, folder);
	_cleanup_free_ char *settings = memory_format("%s/default.supp", folder);

	if (access(core, R_OK) != 0 || access(settings, R_OK) != 0)
		return error_new(
			"Valgrind, which programs without hooks need, is not there any more, or is "
			"another version than unsnarl was built with (%s leads nowhere): " HOW_TO_MEND,
			access(core, R_OK) != 0 ? core : settings);
	return check_version(core);
}

struct error *binary_check(void)
{
	_cleanup_free_ char *folder = NULL;

	TRY(find_folder(&folder));
	return find_core(folder);
}

/* For what the program executes; without a launcher that runs unobserved. */
static char *find_launcher(void)
{
	static const char *const places[] = { "/usr/bin/valgrind.bin", "/usr/bin/valgrind",
					      "/usr/local/bin/valgrind" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (access(places[i], X_OK) == 0)
			return memory_string(places[i]);
	return memory_string("/usr/bin/valgrind");
}

/* gdb finds the run stopped before its first instruction, and is told of its end. */
static void add_gdb(struct binary *out, const char *prefix, size_t *nwords)
{
	static const char *const switches[] = { "--vgdb=full", "--vgdb-error=0", "--vgdb-stop-at=exit" };

	if (!prefix) {
		out->argv[(*nwords)++] = (char *)(uintptr_t)"--vgdb=no";
		return;
	}
	for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
		out->argv[(*nwords)++] = (char *)(uintptr_t)switches[i];
	out->argv[(*nwords)++] = out->prefix = memory_format("--vgdb-prefix=%s", prefix);
}

struct error *binary_prepare(const struct launch_options *options, struct binary *out)
{
	static const char *const switches[] = {
		"--tool=unsnarl",
		"-q",
		"--log-file=/dev/null",
		"--vex-guest-chase=no",
		"--trace-children=yes",
		"--sigill-diagnostics=no",
		"--max-threads=1023",          /* AREA_SLOTS: as many as control can list */
		"--valgrind-stacksize=262144", /* of each thread */
		"--run-libc-freeres=no",
		"--run-cxx-freeres=no",
	};
	const size_t nswitches = sizeof switches / sizeof *switches;
	size_t nwords = nswitches + 1;
	_cleanup_free_ char *folder = NULL, *launcher = NULL;
	size_t n = 0;

	*out = (struct binary){ 0 };
	if (options->loom != LOOM_BINARY)
		return NULL;
	TRY(find_folder(&folder));
	TRY(find_core(folder));
	while (options->argv[n])
		n++;
	launcher = find_launcher();
	out->path = memory_format("%s/" TOOL, folder);
	out->argv = memory_alloc((n + nswitches + 9) * sizeof *out->argv);
	out->argv[0] = out->path;
	for (size_t i = 0; i < nswitches; i++)
		out->argv[i + 1] = (char *)(uintptr_t)switches[i];
	add_gdb(out, options->gdb, &nwords);
	/* Frames are told apart by the stack pointer, which must be right at every instruction then. */
	if (options->area.observe & OBSERVE_LOOPS)
		out->argv[nwords++] = (char *)(uintptr_t)"--vex-iropt-register-updates=allregs-at-each-insn";
	if (options->only)
		out->argv[nwords++] = out->only = memory_format("--only=%s", options->only);
	out->argv[nwords] = (char *)(uintptr_t)(options->path ? options->path : options->argv[0]);
	for (size_t i = 1; i < n; i++)
		out->argv[nwords + i] = options->argv[i];
	out->entries[0] = memory_format("VALGRIND_LIB=%s", folder);
	out->entries[1] = memory_format("VALGRIND_LAUNCHER=%s", launcher);
	return NULL;
}

void binary_free(struct binary *binary)
{
	free(binary->path);
	free(binary->only);
	free(binary->prefix);
	free(binary->argv);
	free(binary->entries[0]);
	free(binary->entries[1]);
	*binary = (struct binary){ 0 };
}

char **binary_environment(const struct binary *binary, char *const *environment)
{
	size_t n = 0;

	while (environment[n])
		n++;
	char **added = memory_alloc((n + 3) * sizeof *added);

	memcpy(added, environment, n * sizeof *added);
	for (size_t i = 0; binary->entries[i]; i++)
		added[n++] = binary->entries[i];
	return added;
}
