/* Measures the columns of a table in terminal columns, not bytes, then prints
 * it row by row. Cells were cleaned when they came in, so that measuring and
 * printing can trust them.
 */
#include "report/grid.h"

#include <stdarg.h>
#include <stdlib.h>

#include "report/text.h"

#define GAP 2
#define LEAST_WIDTH 8 /* a column gives way down to this */

void grid_cell(struct grid *grid, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	_cleanup_free_ char *raw = memory_vformat(format, arguments);
	va_end(arguments);
	*VEC_PUSH(&grid->cells) = text_clean(raw);
}

static size_t count_columns(const struct grid *grid)
{
	size_t n = 0;

	while (grid->columns[n].title)
		n++;
	return n;
}

static void measure(const struct grid *grid, size_t n, int indent, int width, int *widths)
{
	int line = indent - GAP;

	for (size_t c = 0; c < n; c++) {
		widths[c] = text_width(grid->columns[c].title);
		for (size_t i = c; i < grid->cells.n; i += n)
			if (text_width(grid->cells.items[i]) > widths[c])
				widths[c] = text_width(grid->cells.items[i]);
		line += widths[c] + GAP;
	}
	for (size_t c = 0; width > 0 && c < n; c++) {
		if (grid->columns[c].gives_way && line > width) {
			widths[c] -= line - width;
			if (widths[c] < LEAST_WIDTH)
				widths[c] = LEAST_WIDTH;
		}
	}
}

static void print_cell(const struct grid_column *column, const char *text, int width, bool last, FILE *out)
{
	_cleanup_free_ char *cut = column->gives_way ? text_cut(text, width, false) : memory_string(text);

	/* No blanks at the end of lines. */
	text_pad(out, cut, last && !column->right ? 0 : width, column->right);
	fprintf(out, "%s", last ? "\n" : "  ");
}

void grid_print(const struct grid *grid, FILE *out, int indent, int width)
{
	size_t n = count_columns(grid);
	_cleanup_free_ int *widths = memory_alloc(n * sizeof *widths);

	measure(grid, n, indent, width, widths);
	fprintf(out, "%*s", indent, "");
	for (size_t c = 0; c < n; c++)
		print_cell(&grid->columns[c], grid->columns[c].title, widths[c], c + 1 == n, out);
	for (size_t i = 0; i < grid->cells.n; i++) {
		if (i % n == 0)
			fprintf(out, "%*s", indent, "");
		print_cell(&grid->columns[i % n], grid->cells.items[i], widths[i % n], i % n + 1 == n, out);
	}
}

void grid_free(struct grid *grid)
{
	for (size_t i = 0; i < grid->cells.n; i++)
		free(grid->cells.items[i]);
	VEC_FREE(&grid->cells);
}
