/* A table for the terminal: cells are filled row by row, columns get the width
 * they need, and one column may give way so that lines fit.
 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"

struct grid_column {
	const char *title; /* NULL ends the list */
	bool right;        /* numbers */
	bool gives_way;    /* cut when the line is too long; at most one column */
};

struct grid {
	const struct grid_column *columns;
	VEC(char *) cells;
};

/* The next cell, row by row. Cleaned for terminals. */
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints all rows under a line of titles; `width` 0 means no limit. */
void grid_print(const struct grid *grid, FILE *out, int indent, int width);
void grid_free(struct grid *grid);

#endif
