/* `unsnarl cc`: runs clang for what clang does best (front end, optimiser,
 * code generation, linking) and puts the hooks in between. */
#include "loom/compile/compile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process_run.h"
#include "loom/compile/arguments.h"
#include "loom/compile/guard_data.h"
#include "loom/compile/unit.h"
#include "llvm/llvm.h"
#include "base/installed.h"

#define CLANG "clang-19"
#define CLANGXX "clang++-19"

struct driver {
	bool cxx;
	struct arguments arguments;
	char folder[64];        /* temporary */
	unsigned files;         /* made in it */
	int status;             /* of the first command that failed */
	int signal;             /* that ended it, 0 = none */
	int last;               /* status of the last command */
	struct guard_set guard; /* of a production build, or what a sparse one observes */
	uint32_t sample;
};

struct command {
	VEC(char *) words; /* borrowed, but for those in `owned` */
	VEC(char *) owned;
};

static void command_add(struct command *command, const char *word)
{
	*VEC_PUSH(&command->words) = (char *)word;
}

static const char *command_own(struct command *command, char *word)
{
	*VEC_PUSH(&command->owned) = word;
	return word;
}

static void command_free(struct command *command)
{
	for (size_t i = 0; i < command->owned.n; i++)
		free(command->owned.items[i]);
	VEC_FREE(&command->owned);
	VEC_FREE(&command->words);
}

static struct error *command_run(struct driver *driver, struct command *command)
{
	*VEC_PUSH(&command->words) = NULL;
	TRY(process_run_caught(command->words.items, &driver->last, &driver->signal));
	if (driver->signal)
		return error_new("interrupted");
	if (!driver->status)
		driver->status = driver->last;
	return NULL;
}

static char *temporary(struct driver *driver, const char *ending)
{
	return memory_format("%s/%u%s", driver->folder, driver->files++, ending);
}

/* ---- one source ---- */

/* `path` with another ending. */
static char *with_ending(const char *path, const char *ending)
{
	const char *dot = strrchr(path, '.');
	bool named = dot && !strchr(dot, '/');
	return memory_format("%.*s%s", (int)(named ? (size_t)(dot - path) : strlen(path)), path, ending);
}

/* What clang would call the object of `source`. */
static char *object_name(const char *source, const char *ending)
{
	const char *base = strrchr(source, '/');
	return with_ending(base ? base + 1 : source, ending);
}

/* The options of the command line, without inputs and outputs; the `second` time, when code is generated,
 * without those that write files beside the object. */
static void add_options(const struct driver *driver, struct command *command, bool second)
{
	const struct arguments *arguments = &driver->arguments;
	command_add(command, driver->cxx ? CLANGXX : CLANG);
	command_add(command, "-Qunused-arguments");
	command_add(command, "-Wno-unknown-warning-option");
	command_add(command, "-Wno-ignored-optimization-argument");
	for (size_t i = 0; i < arguments->items.n; i++) {
		const struct argument *a = &arguments->items.items[i];
		if (a->input || a->output || a->mode || a->ours || a->dropped || a->selects ||
		    ((a->dependency || a->once) && second))
			continue;
		command_add(command, a->text);
	}
	if (!arguments->debug)
		command_add(command, "-g");
	if (!arguments->guard) /* include/unsnarl.h: marks are for those who observe */
		command_add(command, "-DUNSNARL_OBSERVED");
}

/* Where clang would write dependencies and of what, had it made the object itself. */
static void add_dependencies(const struct driver *driver, struct command *command, const char *source)
{
	const struct arguments *arguments = &driver->arguments;
	if (!arguments->dependencies)
		return;
	const char *object = command_own(command, object_name(source, ".o"));
	const char *output = arguments->output ? arguments->output : object;
	if (!arguments->dependency_file) {
		command_add(command, "-MF");
		command_add(command, command_own(command, with_ending(output, ".d")));
	}
	if (!arguments->dependency_target) {
		command_add(command, "-MT");
		command_add(command, arguments->mode == MODE_LINK ? object : output);
	}
}

/* Files for gcov go where clang would put them beside the object, not beside the bitcode. */
static void add_coverage(const struct driver *driver, struct command *command, const char *source)
{
	const struct arguments *arguments = &driver->arguments;
	_cleanup_free_ char *folder = getcwd(NULL, 0), *object = object_name(source, ".o");
	const char *output = arguments->output && arguments->mode != MODE_LINK ? arguments->output : object;
	_cleanup_free_ char *notes = with_ending(output, ".gcno"), *data = with_ending(output, ".gcda");
	const char *place = *output == '/' || !folder ? "" : folder, *slash = *place ? "/" : "";
	if (!arguments->coverage)
		return;
	command_add(command, "-Xclang");
	command_add(command,
		    command_own(command, memory_format("-coverage-notes-file=%s%s%s", place, slash, notes)));
	command_add(command, "-Xclang");
	command_add(command,
		    command_own(command, memory_format("-coverage-data-file=%s%s%s", place, slash, data)));
}

/* First step: the front end and the optimiser, to bitcode. */
static struct error *to_bitcode(struct driver *driver, const struct argument *source, const char *bitcode)
{
	_cleanup_(command_free) struct command command = { 0 };
	add_options(driver, &command, false);
	add_dependencies(driver, &command, source->text);
	add_coverage(driver, &command, source->text);
	const char *last[] = { "-c", "-emit-llvm", "-o", bitcode, "-x", source->language, source->text };
	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		command_add(&command, last[i]);
	return command_run(driver, &command);
}

/* Last step: code generation from the woven bitcode. */
static struct error *to_object(struct driver *driver, const char *bitcode, const char *object)
{
	_cleanup_(command_free) struct command command = { 0 };
	add_options(driver, &command, true);
	const char *last[] = { "-Xclang", "-disable-llvm-passes",
			       "-w",      driver->arguments.mode == MODE_ASSEMBLY ? "-S" : "-c",
			       "-o",      object,
			       "-x",      "ir",
			       bitcode };
	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		command_add(&command, last[i]);
	return command_run(driver, &command);
}

static struct error *compile_source(struct driver *driver, const struct argument *source, const char *object)
{
	_cleanup_free_ char *plain = temporary(driver, ".bc"), *woven = temporary(driver, ".bc");
	TRY(to_bitcode(driver, source, plain));
	if (driver->last)
		return NULL;
	struct transform_options options = { .loops = driver->arguments.loops,
					     .optimise = driver->arguments.optimise,
					     .source = source->text,
					     .guard = driver->arguments.guard ? &driver->guard : NULL,
					     .sparse = driver->arguments.sparse ? &driver->guard : NULL,
					     .sample = driver->sample };
	const struct llvm_entrances *llvm;
	TRY(llvm_load(&llvm));
	TRY(llvm->unit_weave(plain, woven, &options));
	return to_object(driver, woven, object);
}

/* Assembly and the like: clang's alone. */
static struct error *compile_foreign(struct driver *driver, const struct argument *source, const char *object)
{
	_cleanup_(command_free) struct command command = { 0 };
	add_options(driver, &command, true);
	const char *last[] = { "-c", "-o", object, "-x", source->foreign, source->text };
	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		command_add(&command, last[i]);
	return command_run(driver, &command);
}

static struct error *compile_input(struct driver *driver, const struct argument *source, const char *object)
{
	return source->language ? compile_source(driver, source, object)
				: compile_foreign(driver, source, object);
}

/* ---- linking ---- */

static struct error *add_runtime(struct command *command)
{
	_cleanup_free_ char *archive = NULL, *symbols = NULL, *guard = NULL, *unwinder = NULL;
	TRY(installed_find("libunsnarl_rt.a", &archive));
	TRY(installed_find("libunsnarl_armed.a", &guard));
	TRY(installed_find("libunsnarl_unwind.a", &unwinder));
	TRY(installed_find("runtime.symbols", &symbols));
	command_add(command, "-Wl,--whole-archive");
	command_add(command, command_own(command, memory_string(archive)));
	command_add(command, "-Wl,--no-whole-archive");
	command_add(command, command_own(command, memory_string(guard)));
	command_add(command, command_own(command, memory_string(unwinder)));
	command_add(command, command_own(command, memory_format("-Wl,--dynamic-list=%s", symbols)));
	command_add(command, "-pthread");
	command_add(command, "-ldl");
	return NULL;
}

/* Of a guarded program: the set as an object, and the small runtime. */
static struct error *add_guard(struct driver *driver, struct command *command)
{
	_cleanup_free_ char *archive = NULL;
	const char *source = command_own(command, temporary(driver, ".c"));
	const char *object = command_own(command, temporary(driver, ".o"));
	FILE *out = fopen(source, "we");
	if (!out)
		return error_errno(errno, "cannot write %s", source);
	guard_data_write(out, &driver->guard, driver->arguments.guard_log);
	if (fclose(out))
		return error_errno(errno, "cannot write %s", source);
	_cleanup_(command_free) struct command compile = { 0 };
	const char *words[] = { CLANG, "-w", "-O1", "-fPIC", "-c", "-o", object, source };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		command_add(&compile, words[i]);
	TRY(command_run(driver, &compile));
	TRY(installed_find("libunsnarl_guard.a", &archive));
	command_add(command, object);
	command_add(command, command_own(command, memory_string(archive)));
	command_add(command, "-Wl,--export-dynamic-symbol=unsnarl_guard*");
	command_add(command, "-pthread");
	return NULL;
}

/* Of a library: the program brings the runtime; where it brings none, what is needed instead. */
static struct error *add_absent(const struct driver *driver, struct command *command)
{
	_cleanup_free_ char *library = NULL;
	/* Also with -z defs. */
	command_add(command, "-Wl,--unresolved-symbols=ignore-all");
	if (driver->arguments.guard || driver->arguments.no_runtime)
		return NULL;
	TRY(installed_find("libunsnarl_absent.so", &library));
	command_add(command, "-Wl,--push-state,--as-needed");
	command_add(command, command_own(command, memory_string(library)));
	command_add(command, "-Wl,--pop-state");
	return NULL;
}

static struct error *link_all(struct driver *driver, char *const *objects)
{
	const struct arguments *arguments = &driver->arguments;
	_cleanup_(command_free) struct command command = { 0 };
	command_add(&command, driver->cxx ? CLANGXX : CLANG);
	command_add(&command, "-Qunused-arguments");
	for (size_t i = 0; i < arguments->items.n; i++) {
		const struct argument *a = &arguments->items.items[i];
		if (!a->ours && !a->dropped && !a->dependency && !a->selects)
			command_add(&command, objects[i] ? objects[i] : a->text);
	}
	if (!arguments->shared && !arguments->no_runtime)
		TRY(arguments->guard ? add_guard(driver, &command) : add_runtime(&command));
	else if (arguments->shared)
		TRY(add_absent(driver, &command));
	return command_run(driver, &command);
}

static struct error *compile_and_link(struct driver *driver)
{
	const struct arguments *arguments = &driver->arguments;
	if (arguments->is_static && !arguments->guard)
		return error_new("a statically linked program cannot be observed: leave out -static");
	char **objects = memory_alloc((arguments->items.n + 1) * sizeof *objects);
	struct error *e = NULL;
	for (size_t i = 0; i < arguments->items.n && !e; i++) {
		const struct argument *a = &arguments->items.items[i];
		if (!a->language && !a->foreign)
			continue;
		objects[i] = temporary(driver, ".o");
		e = compile_input(driver, a, objects[i]);
	}
	if (!e && !driver->status)
		e = link_all(driver, objects);
	for (size_t i = 0; i < arguments->items.n; i++)
		free(objects[i]);
	free(objects);
	return e;
}

/* ---- the whole ---- */

static struct error *pass_on(struct driver *driver)
{
	_cleanup_(command_free) struct command command = { 0 };
	command_add(&command, driver->cxx ? CLANGXX : CLANG);
	for (size_t i = 0; i < driver->arguments.items.n; i++)
		if (!driver->arguments.items.items[i].ours && !driver->arguments.items.items[i].dropped)
			command_add(&command, driver->arguments.items.items[i].text);
	return command_run(driver, &command);
}

static struct error *compile_objects(struct driver *driver)
{
	const struct arguments *arguments = &driver->arguments;
	const char *ending = arguments->mode == MODE_ASSEMBLY ? ".s" : ".o";
	if (arguments->output && arguments->sources > 1)
		return pass_on(driver); /* clang says best what is wrong */
	for (size_t i = 0; i < arguments->items.n; i++) {
		const struct argument *a = &arguments->items.items[i];
		if (!a->language && (!a->foreign || arguments->mode == MODE_ASSEMBLY))
			continue;
		_cleanup_free_ char *object =
			arguments->output ? memory_string(arguments->output) : object_name(a->text, ending);
		TRY(compile_input(driver, a, object));
	}
	return NULL;
}

static void remove_folder(const char *folder)
{
	DIR *files = opendir(folder);
	for (struct dirent *file; files && (file = readdir(files));)
		unlinkat(dirfd(files), file->d_name, 0);
	if (files)
		closedir(files);
	rmdir(folder);
}

/* Ends as whoever sent the signal wants it, now that nothing is left behind. */
static void end_by(int number)
{
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, number);
	signal(number, SIG_DFL);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

#define SAMPLE 128u /* of what a sparse build leaves out one in so many is observed */

static struct error *read_sample(const char *text, uint32_t *out)
{
	char *end;
	*out = text ? (uint32_t)strtoul(text, &end, 10) : SAMPLE;
	if (text && (*text < '0' || *text > '9' || *end || strlen(text) > 9))
		return error_new("--sample %s is no number: give N to observe one in N accesses that the set "
				 "leaves out, or 0 for none",
				 text);
	return NULL;
}

struct error *compile_main(bool cxx, int argc, char **argv, int *status)
{
	struct driver driver = { .cxx = cxx };
	process_catch();
	TRY(arguments_parse(cxx, argc, argv, &driver.arguments));
	TRY(read_sample(driver.arguments.sample, &driver.sample));
	if (driver.arguments.guard && driver.arguments.sparse)
		return error_new(
			"--guard builds for production and --sparse for the monitor: one build cannot be "
			"both, leave one out");
	const char *set = driver.arguments.guard ? driver.arguments.guard : driver.arguments.sparse;
	struct error *e = set ? guard_load(set, driver.arguments.guard_limit, &driver.guard) : NULL;
	const char *place = getenv("TMPDIR");
	snprintf(driver.folder, sizeof driver.folder, "%s/unsnarl-cc-XXXXXX",
		 place && strlen(place) < 40 ? place : "/tmp");
	if (e) {
		/* nothing is compiled with a set that cannot be read */
	} else if (driver.arguments.mode == MODE_PLAIN) {
		e = pass_on(&driver);
	} else if (!mkdtemp(driver.folder)) {
		e = error_errno(errno, "cannot make a temporary folder in %s", place ? place : "/tmp");
	} else {
		e = driver.arguments.mode == MODE_LINK ? compile_and_link(&driver) : compile_objects(&driver);
		remove_folder(driver.folder);
	}
	if (driver.signal)
		end_by(driver.signal);
	*status = driver.status;
	guard_set_free(&driver.guard);
	arguments_free(&driver.arguments);
	return e;
}
