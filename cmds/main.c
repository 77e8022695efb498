/* The way in: finds the verb, runs it, prints its error if it has one. Exit
 * status 2 is a usage or internal error; what else there is, verbs decide.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "report/answer.h"
#include "report/text.h"

const struct verb *const cmds_verbs[] = {
	&verb_diagnose, &verb_cc,    &verb_cxx,    &verb_run,   &verb_hunt,   &verb_replay,
	&verb_runs,     &verb_show,  &verb_locate, &verb_rank,  &verb_scan,   &verb_slice,
	&verb_verify,   &verb_learn, &verb_guard,  &verb_relax, &verb_expose, &verb_detect,
	&verb_isolate,  &verb_exec,  &verb_help,   NULL,
};

const struct verb *cmds_find(const char *name)
{
	for (const struct verb *const *verb = cmds_verbs; *verb; verb++)
		if (!strcmp((*verb)->page->verb, name))
			return *verb;
	return NULL;
}

struct error *cmds_unknown(const char *name)
{
	const char *names[sizeof cmds_verbs / sizeof *cmds_verbs];
	size_t n = 0;

	for (const struct verb *const *verb = cmds_verbs; *verb; verb++)
		if (!(*verb)->hidden)
			names[n++] = (*verb)->page->verb;
	const char *nearest = options_nearest(name, names, n);

	/* A file of that name: its user means the program. */
	if (strchr(name, '/') || (!nearest && access(name, X_OK) == 0))
		return error_new("unknown verb %s; to diagnose a program write: unsnarl -- %s%s", name,
				 strchr(name, '/') ? "" : "./", name);
	if (nearest)
		return error_new("unknown %s %s, did you mean %s?", *name == '-' ? "option" : "verb", name,
				 nearest);
	/* CMake's assembly drops the second word of a compiler that has two. */
	if (*name == '-')
		return error_new(
			"unknown option %s; unsnarl help lists the verbs (the compiler is unsnarl cc, or "
			"unsnarl-cc where it must be one word)",
			name);
	return error_new("unknown verb %s; unsnarl help lists the verbs", name);
}

/* unsnarl-cc and unsnarl-c++ are the tool under another name, for build files that want a compiler in one
 * word. */
static const struct verb *verb_of_own_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *prefix = "unsnarl-";
	const struct verb *verb =
		strncmp(name, prefix, strlen(prefix)) == 0 ? cmds_find(name + strlen(prefix)) : NULL;

	return verb == &verb_cc || verb == &verb_cxx ? verb : NULL;
}

/* Without a verb: the main job. Options may stand before the -- as they may behind the verb. */
static bool is_bare(char **arguments)
{
	if (!*arguments || **arguments != '-')
		return false;
	while (*arguments && strcmp(*arguments, "--"))
		arguments++;
	return *arguments;
}

static int fail(const char *verb, struct error *error)
{
	/* Sentences quote paths and arguments: nothing of theirs may steer the terminal. */
	_cleanup_free_ char *message = text_clean(error->message);

	fflush(stdout);
	fprintf(stderr, "unsnarl%s%s: %s\n", verb ? " " : "", verb ? verb : "", message);
	error_free(error);
	return cmds_interrupted() ? CMDS_INTERRUPTED : 2;
}

static int finish(const struct verb *verb, struct error *error, int status)
{
	/* A result that did not reach its reader is no success. */
	if (!error && (fflush(stdout) || ferror(stdout)))
		error = error_errno(errno, "cannot write the result");
	return error ? fail(verb->page->verb, error) : status;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "help";
	int status = 0;

	setlocale(LC_CTYPE, "");
	const struct verb *own = argc ? verb_of_own_name(argv[0]) : NULL;

	if (own) {
		struct error *error = own->main(argc, argv, &status);

		return finish(own, error, status);
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		printf("unsnarl %s\n", UNSNARL_VERSION);
		return 0;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	/* The verb's main takes the -- as the end of its options. */
	bool bare = argc > 1 && is_bare(argv + 1);
	const struct verb *verb = bare ? &verb_diagnose : cmds_find(name);

	if (!verb)
		return fail(NULL, cmds_unknown(name));
	int skipped = argc > 1 && !bare;
	struct error *error = verb->main(argc - skipped, argv + skipped, &status);

	return finish(verb, error, argc > 1 ? status : 2);
}
