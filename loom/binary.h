/* The binary loom from outside: which programs need it, and how one is started on
 * it. The tool itself is loom/grind. */
#ifndef LOOM_BINARY_H
#define LOOM_BINARY_H

#include "base/error.h"
#include "loom/launch.h"

/* What is executed in place of the program. */
struct binary {
	char *path;       /* NULL: the program itself, which has hooks */
	char *only;       /* its option for one program, NULL = none, */
	char *prefix;     /* and for gdb */
	char **argv;      /* the tool, its options, the program, its arguments */
	char *entries[3]; /* of the environment; NULL ends them */
};

/* For a program with hooks everything stays empty. Says in a sentence when Valgrind or the tool is missing. */
struct error *binary_prepare(const struct launch_options *options, struct binary *out);
void binary_free(struct binary *binary);

/* The environment with the entries added; the caller frees the array alone. */
char **binary_environment(const struct binary *binary, char *const *environment);

/* Can programs be started on the binary loom here? */
struct error *binary_check(void);

#endif
