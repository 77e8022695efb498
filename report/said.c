/* Shows a program's own words. They may hold anything: they are cleaned and cut;
 * of failed assertions the path is cut short instead.
 */
#include "report/said.h"

#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "report/text.h"

#define WIDTH 80

/* What a failed assertion says, with a short path: "queue.c:31: take: Assertion `n > 0' failed." */
static char *assertion(const char *clean)
{
	const char *assertion = strstr(clean, ": Assertion `"), *colon = strstr(clean, ": ");
	const char *path = colon && colon < assertion ? colon + 2 : clean, *rest;

	if (!assertion || !(rest = strchr(path, ':')) || rest >= assertion)
		return NULL;
	const char *name = rest;

	while (name > path && name[-1] != '/')
		name--;
	return memory_string(name);
}

static void print_line(const char *clean, int indent, FILE *out)
{
	_cleanup_free_ char *failed = assertion(clean);

	if (!failed) {
		_cleanup_free_ char *line = text_cut(clean, WIDTH - 4 - indent, false);

		fprintf(out, "%*s  | %s\n", indent, "", line);
		return;
	}
	/* The expression is at its end: nothing is cut. */
	fprintf(out, "%*s  | ", indent, "");
	options_fill(out, failed, indent + 4, indent + 4);
}

void said_print(const char *output, int lines, int indent, FILE *out)
{
	const char *at = output ? output + strlen(output) : NULL;

	if (!output || !*output)
		return;
	if (at[-1] == '\n')
		at--;
	while (at > output && (at[-1] != '\n' || --lines > 0))
		at--;
	while (*at) {
		size_t length = strcspn(at, "\n");
		_cleanup_free_ char *clean = text_clean_size(at, length);

		print_line(clean, indent, out);
		at += length + (at[length] == '\n');
	}
}
