/* Lines of source files, for excerpts beside locations. Files that are missing,
 * huge or no regular files simply have no lines.
 */
#ifndef REPORT_EXCERPT_H
#define REPORT_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct excerpt_file;

struct excerpts {
	char *folder; /* where relative paths are tried second; may be NULL */
	VEC(struct excerpt_file *) files;
};

/* Line `line` (from 1) of `file` as a fresh clean string without surrounding
 * blanks; NULL when there is none. */
char *excerpt_line(struct excerpts *excerpts, const char *file, uint32_t line);

/* The first of the files read so far that was changed after `time` (Unix time,
 * microseconds): its lines may not be what ran. NULL when there is none. */
const char *excerpt_changed(const struct excerpts *excerpts, int64_t time);

void excerpt_free(struct excerpts *excerpts);

#endif
