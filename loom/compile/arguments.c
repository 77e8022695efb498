/* Takes a gcc- or clang-style command line apart: which words are options with
 * a value, which are sources and in what language, and what is asked for. */
#include "loom/compile/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options whose value may stand in the next word. */
static const char *const with_value[] = {
	"-o",
	"-x",
	"-I",
	"-D",
	"-U",
	"-L",
	"-l",
	"-F",
	"-T",
	"-u",
	"-z",
	"-e",
	"-G",
	"-A",
	"-B",
	"-V",
	"-b",
	"-include",
	"-imacros",
	"-isystem",
	"-isystem-after",
	"-iquote",
	"-idirafter",
	"-isysroot",
	"-iprefix",
	"-iwithprefix",
	"-iwithprefixbefore",
	"-iframework",
	"-imultilib",
	"-framework",
	"-MF",
	"-MT",
	"-MQ",
	"-MJ",
	"-Xclang",
	"-Xlinker",
	"-Xpreprocessor",
	"-Xassembler",
	"-Xanalyzer",
	"-mllvm",
	"-arch",
	"-target",
	"--param",
	"-aux-info",
	"-dumpdir",
	"-dumpbase",
	"-wrapper",
	"-rpath",
	"-soname",
	"-h",
	"-Tbss",
	"-Tdata",
	"-Ttext",
	"--sysroot",
	"-specs",
	"-working-directory",
	"-ccc-install-dir",
	"-serialize-diagnostics",
	"-dyld-prefix",
	"-include-pch",
	"-imacros",
	"-fplugin-arg",
	"--guard",
	"--guard-log",
	"--limit",
	"--sparse",
	"--sample",
};

/* Requests in which no object of ours comes to be. */
static const char *const plain_requests[] = {
	"-E",   "-M",           "-MM",          "-fsyntax-only", "-emit-llvm",    "-emit-ast", "--version",
	"-###", "-dumpmachine", "-dumpversion", "--help",        "-fdriver-only", "--analyze",
};

static bool in_list(const char *const *list, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* The language of a file by its ending, NULL for what the linker gets. */
static const char *language_of(bool cxx, const char *path)
{
	static const char *const endings[][2] = {
		{ ".c", "c" },     { ".i", "cpp-output" },      { ".cc", "c++" },  { ".cp", "c++" },
		{ ".cpp", "c++" }, { ".cxx", "c++" },           { ".c++", "c++" }, { ".C", "c++" },
		{ ".CPP", "c++" }, { ".ii", "c++-cpp-output" },
	};
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (strcmp(dot, endings[i][0]) == 0)
			return cxx && i == 0 ? "c++" : endings[i][1];
	return NULL;
}

/* The language of sources that get no hooks, NULL for what the linker gets. */
static const char *foreign_language_of(const char *path)
{
	static const char *const endings[][2] = {
		{ ".s", "assembler" },    { ".S", "assembler-with-cpp" }, { ".sx", "assembler-with-cpp" },
		{ ".h", "c-header" },     { ".hh", "c++-header" },        { ".hpp", "c++-header" },
		{ ".hxx", "c++-header" },
	};
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (strcmp(dot, endings[i][0]) == 0)
			return endings[i][1];
	return NULL;
}

static bool is_our_language(const char *language)
{
	static const char *const ours[] = { "c", "c++", "cpp-output", "c++-cpp-output" };
	return in_list(ours, 4, language);
}

/* ---- response files ---- */

struct words {
	VEC(char *) items;
};

static struct error *expand(const char *word, struct words *out, int depth);

/* Words of a response file: blanks separate, quotes and backslashes protect. */
static struct error *expand_text(const char *text, struct words *out, int depth)
{
	while (*text) {
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			break;
		VEC(char) word = { 0 };
		for (char quote = 0; *text && (quote || !isspace((unsigned char)*text)); text++) {
			if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? 0 : *text;
			else if (*text == '\\' && text[1] && quote != '\'')
				*VEC_PUSH(&word) = *++text;
			else
				*VEC_PUSH(&word) = *text;
		}
		*VEC_PUSH(&word) = '\0';
		struct error *e = expand(word.items, out, depth);
		VEC_FREE(&word);
		TRY(e);
	}
	return NULL;
}

static struct error *expand(const char *word, struct words *out, int depth)
{
	_cleanup_fclose_ FILE *file = word[0] == '@' ? fopen(word + 1, "re") : NULL;
	if (!file) { /* also what gcc does: an unreadable @file is an ordinary word */
		*VEC_PUSH(&out->items) = memory_string(word);
		return NULL;
	}
	if (depth > 20)
		return error_new("response file %s includes itself", word + 1);
	VEC(char) text = { 0 };
	for (int c; (c = getc(file)) != EOF;)
		*VEC_PUSH(&text) = (char)c;
	*VEC_PUSH(&text) = '\0';
	struct error *e = expand_text(text.items, out, depth + 1);
	VEC_FREE(&text);
	return e;
}

/* ---- classification ---- */

static void note_option(struct arguments *arguments, struct argument *argument, bool *plain)
{
	const char *text = argument->text;
	if (strcmp(text, "-c") == 0 || strcmp(text, "-S") == 0) {
		argument->mode = true;
		arguments->mode = text[1] == 'c'
					  ? (arguments->mode == MODE_ASSEMBLY ? MODE_ASSEMBLY : MODE_OBJECT)
					  : MODE_ASSEMBLY;
	} else if (in_list(plain_requests, sizeof plain_requests / sizeof *plain_requests, text) ||
		   starts_with(text, "-print-")) {
		*plain = true;
	} else if (starts_with(text, "-flto") || strcmp(text, "-fembed-bitcode") == 0 ||
		   strcmp(text, "-ffat-lto-objects") == 0 || strcmp(text, "-fno-fat-lto-objects") == 0 ||
		   strcmp(text, "-fuse-linker-plugin") == 0) {
		argument->dropped = true;
	} else if (strcmp(text, "-MD") == 0 || strcmp(text, "-MMD") == 0 || strcmp(text, "-MP") == 0 ||
		   strcmp(text, "-MG") == 0) {
		argument->dependency = true;
		arguments->dependencies |= strcmp(text, "-MD") == 0 || strcmp(text, "-MMD") == 0;
	} else if (starts_with(text, "-Wp,-MD,") || starts_with(text, "-Wp,-MMD,")) {
		argument->dependency = arguments->dependencies = arguments->dependency_file = true;
	} else if (starts_with(text, "-O")) {
		arguments->optimise = strcmp(text, "-O0") != 0;
	} else if (text[1] == 'g' && strcmp(text, "-g0") != 0 && !starts_with(text, "-gcc")) {
		arguments->debug = true;
	} else if (strcmp(text, "-shared") == 0) {
		arguments->shared = true;
	} else if (strcmp(text, "-static") == 0 || strcmp(text, "-static-pie") == 0) {
		arguments->is_static = true;
	} else if (strcmp(text, "-r") == 0 || strcmp(text, "-nostdlib") == 0 ||
		   strcmp(text, "-nostartfiles") == 0) {
		arguments->no_runtime = true;
	} else if (starts_with(text, "-save-temps") || starts_with(text, "--save-temps")) {
		argument->once = true;
	} else if (strcmp(text, "--coverage") == 0 || strcmp(text, "-coverage") == 0 ||
		   strcmp(text, "-fprofile-arcs") == 0 || strcmp(text, "-ftest-coverage") == 0) {
		arguments->coverage = true;
	} else if (arguments_is_gcc_only(text)) {
		argument->dropped = true;
		fprintf(stderr, "unsnarl cc: note: %s is an option of gcc's alone, left out\n", text);
	} else if (strcmp(text, "--loops") == 0 || strcmp(text, "--no-loops") == 0) {
		argument->ours = true;
		arguments->loops = text[2] == 'l';
	}
}

/* Does -fsanitize=… ask for this one, among others? */
static bool wants_sanitizer(const char *text, const char *name)
{
	const char *at = starts_with(text, "-fsanitize=") ? text + strlen("-fsanitize=") : "";
	while (*at) {
		size_t length = strcspn(at, ",");
		if (length == strlen(name) && starts_with(at, name))
			return true;
		at += length + (at[length] == ',');
	}
	return false;
}

static struct error *check_sanitizer(const char *text)
{
	static const char *const with_memory_map[] = { "memory", "hwaddress", "dataflow" };
	if (wants_sanitizer(text, "thread"))
		return error_new("%s: ThreadSanitizer and unsnarl cannot both watch the threads of a "
				 "program; leave it out",
				 text);
	for (size_t i = 0; i < sizeof with_memory_map / sizeof *with_memory_map; i++)
		if (wants_sanitizer(text, with_memory_map[i]))
			return error_new("%s: this sanitizer and unsnarl need the same parts of memory; "
					 "leave it out",
					 text);
	return NULL;
}

/* An option of ours without its value, at the end of the command line: the compiler would call it unknown. */
static struct error *check_complete(const char *text)
{
	static const char *const ours[][2] = { { "--guard", "FILE, a guard set that unsnarl learn writes" },
					       { "--guard-log", "LOG" },
					       { "--limit", "MS" },
					       { "--sparse", "FILE, a guard set that unsnarl learn writes" },
					       { "--sample", "N" } };

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcmp(text, ours[i][0]) == 0)
			return error_new("%s wants a value: %s %s", text, text, ours[i][1]);
	return NULL;
}

/* A guarded build: its options are ours alone. */
static bool note_guard(struct arguments *arguments, const char *name, const char *value)
{
	const char **place = strcmp(name, "--guard") == 0       ? &arguments->guard
			     : strcmp(name, "--guard-log") == 0 ? &arguments->guard_log
			     : strcmp(name, "--limit") == 0     ? &arguments->guard_limit
			     : strcmp(name, "--sparse") == 0    ? &arguments->sparse
			     : strcmp(name, "--sample") == 0    ? &arguments->sample
								: NULL;
	if (place)
		*place = value;
	return place != NULL;
}

/* The value of option `name` in the word `value`. */
static void note_value(struct arguments *arguments, const char *name, struct argument *first,
		       struct argument *value, const char **language)
{
	if (note_guard(arguments, name, value->text)) {
		first->ours = value->ours = true;
	} else if (strcmp(name, "-o") == 0) {
		first->output = value->output = true;
		arguments->output = value->text;
	} else if (strcmp(name, "-x") == 0) {
		first->selects = value->selects = true;
		*language = strcmp(value->text, "none") == 0 ? NULL : value->text;
	} else if (name[1] == 'M') {
		first->dependency = value->dependency = true;
		arguments->dependency_file |= strcmp(name, "-MF") == 0;
		arguments->dependency_target |= strcmp(name, "-MF") != 0;
	}
}

/* -oNAME, -xLANGUAGE, -MFNAME: option and value in one word. */
static bool note_joined(struct arguments *arguments, struct argument *argument, const char **language)
{
	char *text = argument->text;
	if (starts_with(text, "--guard=") || starts_with(text, "--guard-log=") ||
	    starts_with(text, "--limit=") || starts_with(text, "--sparse=") ||
	    starts_with(text, "--sample=")) {
		char *value = strchr(text, '=');
		*value = '\0';
		argument->ours = note_guard(arguments, text, value + 1);
		*value = '=';
	} else if (starts_with(text, "-o") && text[2]) {
		argument->output = true;
		arguments->output = text + 2;
	} else if (starts_with(text, "-x") && text[2]) {
		argument->selects = true;
		*language = strcmp(text + 2, "none") == 0 ? NULL : text + 2;
	} else if (starts_with(text, "-MF") || starts_with(text, "-MT") || starts_with(text, "-MQ")) {
		argument->dependency = true;
		arguments->dependency_file |= text[2] == 'F';
		arguments->dependency_target |= text[2] != 'F';
	} else {
		return false;
	}
	return true;
}

static void note_input(bool cxx, struct arguments *arguments, struct argument *argument, const char *language)
{
	argument->input = true;
	arguments->inputs++;
	const char *is = language ? language : language_of(cxx, argument->text);
	if (is && is_our_language(is)) {
		argument->language = memory_string(is);
		arguments->sources++;
		return;
	}
	is = is ? is : foreign_language_of(argument->text);
	argument->foreign = is ? memory_string(is) : NULL;
	arguments->header |= is && strstr(is, "-header");
}

struct error *arguments_parse(bool cxx, int argc, char **argv, struct arguments *out)
{
	*out = (struct arguments){ .mode = MODE_LINK };
	struct words words = { 0 };
	for (int i = 1; i < argc; i++)
		TRY(expand(argv[i], &words, 0));
	bool plain = false;
	const char *language = NULL;
	for (size_t i = 0; i < words.items.n; i++)
		*VEC_PUSH(&out->items) = (struct argument){ .text = words.items.items[i] };
	for (size_t i = 0; i < out->items.n; i++) {
		struct argument *argument = &out->items.items[i];
		const char *text = argument->text;
		TRY(check_sanitizer(text));
		if (i + 1 == out->items.n)
			TRY(check_complete(text));
		if (text[0] != '-' || text[1] == '\0')
			note_input(cxx, out, argument, language);
		else if (in_list(with_value, sizeof with_value / sizeof *with_value, text) &&
			 i + 1 < out->items.n)
			note_value(out, text, argument, &out->items.items[++i], &language);
		else if (!note_joined(out, argument, &language))
			note_option(out, argument, &plain);
	}
	VEC_FREE(&words.items);
	if (plain || out->inputs == 0 || out->header)
		out->mode = MODE_PLAIN;
	if (out->mode != MODE_LINK && out->mode != MODE_PLAIN && out->sources == 0)
		out->mode = MODE_PLAIN;
	return NULL;
}

void arguments_free(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->items.n; i++) {
		free(arguments->items.items[i].text);
		free(arguments->items.items[i].language);
		free(arguments->items.items[i].foreign);
	}
	VEC_FREE(&arguments->items);
}
