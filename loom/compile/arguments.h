/* A compiler command line, taken apart as far as the wrapper needs. */
#ifndef COMPILE_ARGUMENTS_H
#define COMPILE_ARGUMENTS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"

enum compile_mode {
	MODE_PLAIN,    /* nothing for us to do: preprocessing, queries, assembly only */
	MODE_OBJECT,   /* -c */
	MODE_ASSEMBLY, /* -S */
	MODE_LINK,
};

struct argument {
	char *text;
	char *language; /* of a source file: what -x would call it; else NULL */
	char *foreign; /* of a source that clang compiles without us (assembly): what -x calls it; else NULL */
	bool input;    /* a file to compile or to link */
	bool output;   /* -o or its value */
	bool dependency; /* -MD and its kin */
	bool dropped;    /* link-time optimisation: objects must be ordinary ones */
	bool ours;       /* an option of unsnarl's own */
	bool mode;       /* -c, -S */
	bool selects;    /* -x and its value */
	bool once;       /* for the front end alone: code generation must not leave its own (-save-temps) */
};

struct arguments {
	VEC(struct argument) items; /* response files expanded */
	enum compile_mode mode;
	const char *output;   /* -o, NULL when not given */
	bool debug, optimise; /* a -g option, an -O option above 0 was given */
	bool dependencies, dependency_file, dependency_target; /* -MD or -MMD, -MF, -MT or -MQ */
	bool shared, is_static, no_runtime;                    /* -shared, -static, -r or -nostdlib */
	bool loops;                                            /* --loops */
	const char *guard, *guard_log;                         /* --guard FILE, --guard-log FILE */
	const char *sparse;                                    /* --sparse FILE */
	const char *sample;                                    /* --sample N */
	const char *guard_limit;                               /* --limit MS */
	bool coverage;                                         /* --coverage and its kin */
	bool header;                                           /* a header is to be precompiled */
	unsigned sources, inputs;
};

struct error *arguments_parse(bool cxx, int argc, char **argv, struct arguments *out);
/* An option of gcc that clang refuses and that changes nothing in what the program means. */
bool arguments_is_gcc_only(const char *text);
void arguments_free(struct arguments *arguments);

#endif
