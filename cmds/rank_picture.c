/* unsnarl rank --picture: writes the difference graph, or has Graphviz lay it out.
 */
#include "cmds/rank_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process_run.h"
#include "report/picture.h"

#define MOST_POINTS 6 /* more do not fit a picture that a person can read */
#define MOST_EDGES 2  /* of each kind, per point */
#define NOT_FOUND 127

/* To `out`, which is closed; NULL with errno when it could not be opened. */
static struct error *write_dot(const struct rank_view *view, FILE *opened, const char *file)
{
	_cleanup_fclose_ FILE *out = opened;
	struct rank_view small = *view;

	if (!out)
		return error_errno(errno, "cannot write the picture %s", file);
	small.top = view->top < MOST_POINTS ? view->top : MOST_POINTS;
	picture_write(out, &small, MOST_EDGES);
	if (fflush(out) || ferror(out))
		return error_errno(errno, "cannot write the picture %s", file);
	return NULL;
}

struct error *rank_picture(const struct rank_view *view, const char *file)
{
	const char *dot = strrchr(file, '.');

	if (!dot || !dot[1] || strchr(dot, '/'))
		return error_new("what kind of picture is %s? Give it a name that ends with .svg or .dot",
				 file);
	if (!strcmp(dot, ".dot"))
		return write_dot(view, fopen(file, "we"), file);
	_cleanup_free_ char *source = memory_format("%s.dot-XXXXXX", file);
	_cleanup_free_ char *format = memory_format("-T%s", dot + 1);
	char *const argv[] = { "dot", format, "-o", (char *)(uintptr_t)file, source, NULL };
	int status = 0;

	/* A new file, whatever others have put into the folder. */
	int fd = mkostemp(source, O_CLOEXEC);
	struct error *error = write_dot(view, fd < 0 ? NULL : fdopen(fd, "w"), file);

	if (!error)
		error = process_run(argv, &status);

	bool written = fd >= 0;

	if (written)
		unlink(source);
	if (error && !written)
		return error;
	if (error || status == NOT_FOUND) {
		error_free(error);
		return error_new(
			"Graphviz's dot is needed for a picture in %s and cannot be started; install "
			"graphviz, or ask for a file that ends with .dot",
			dot + 1);
	}
	if (status)
		return error_new("dot could not make %s (exit status %d)", file, status);
	return NULL;
}
