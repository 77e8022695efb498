/* Each curve is drawn into a small canvas of dots (2 x 4 per braille character,
 * 1 x 2 per ASCII character), then the canvases are printed row by row.
 */
#include "report/plot.h"

#include <stdbool.h>
#include <string.h>

#include "report/text.h"

#define PANEL 26 /* columns of one plot with its axis; three make 78 */
#define AXIS 7   /* columns left of the curve: six digits and the axis */
#define CELLS (PANEL - AXIS - 2)
#define ROWS 6
#define MOST_DOTS_X (CELLS * 2)
#define MOST_DOTS_Y (ROWS * 4)

struct canvas {
	bool dots[MOST_DOTS_Y][MOST_DOTS_X]; /* row 0 is the top */
	int wide, high;
};

/* Sets the dots from the last height to this one, so that jumps stay connected. */
static void draw(struct canvas *canvas, const uint64_t *values, size_t n)
{
	uint64_t top = values[n - 1] ? values[n - 1] : 1;
	int last = 0;

	for (int x = 0; x < canvas->wide; x++) {
		/* The last value that falls into this column: the end is never cut off. */
		size_t i = (size_t)((double)(x + 1) * (double)n / canvas->wide);

		i = i > 0 ? i - 1 : 0;
		int y = (int)((double)values[i] / (double)top * (canvas->high - 1) + 0.5);

		for (int dot = x == 0 || y == last ? y : last + 1; dot <= y; dot++)
			canvas->dots[canvas->high - 1 - dot][x] = true;
		last = y;
	}
}

static void print_braille(const struct canvas *canvas, int row, int column, FILE *out)
{
	static const unsigned char bits[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	unsigned cell = 0;

	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 2; x++)
			if (canvas->dots[row * 4 + y][column * 2 + x])
				cell |= bits[y][x];
	/* U+2800 + cell in UTF-8; an empty cell as a plain blank. */
	if (cell)
		fprintf(out, "\xe2%c%c", (int)(0xa0 + (cell >> 6)), (int)(0x80 + (cell & 0x3f)));
	else
		fputc(' ', out);
}

static void print_ascii(const struct canvas *canvas, int row, int column, FILE *out)
{
	bool upper = canvas->dots[row * 2][column], lower = canvas->dots[row * 2 + 1][column];

	fputc(upper && lower ? '|' : upper ? '\'' : lower ? '.' : ' ', out);
}

static void print_row(const struct canvas *canvas, uint64_t top, int row, bool utf8, FILE *out)
{
	if (row == 0 && top > 0)
		fprintf(out, "%*llu%s", AXIS - 1, (unsigned long long)top, utf8 ? "┤" : "|");
	else if (row == ROWS - 1)
		fprintf(out, "%*d%s", AXIS - 1, 0, utf8 ? "┤" : "|");
	else
		fprintf(out, "%*s%s", AXIS - 1, "", utf8 ? "│" : "|");
	for (int column = 0; column < CELLS; column++)
		(utf8 ? print_braille : print_ascii)(canvas, row, column, out);
}

void plot_print(const struct plot_curve *curves, size_t ncurves, size_t n, uint64_t first, uint64_t last,
		FILE *out)
{
	bool utf8 = text_utf8();
	struct canvas canvases[3] = { 0 };

	if (ncurves > 3)
		ncurves = 3;
	for (size_t i = 0; i < ncurves; i++) {
		canvases[i].wide = utf8 ? MOST_DOTS_X : CELLS;
		canvases[i].high = utf8 ? MOST_DOTS_Y : ROWS * 2;
		draw(&canvases[i], curves[i].values, n);
		fprintf(out, "%*s%-*s", AXIS, "", i + 1 < ncurves ? PANEL - AXIS : 0, curves[i].title);
	}
	for (int row = 0; row < ROWS; row++) {
		fputc('\n', out);
		for (size_t i = 0; i < ncurves; i++) {
			print_row(&canvases[i], curves[i].values[n - 1], row, utf8, out);
			fprintf(out, "%s", i + 1 < ncurves ? "  " : "");
		}
	}
	fputc('\n', out);
	for (size_t i = 0; i < ncurves; i++) {
		char from[32], to[32];

		snprintf(from, sizeof from, "%llu", (unsigned long long)first);
		snprintf(to, sizeof to, "%llu", (unsigned long long)last);
		fprintf(out, "%*s%s%*s%s", AXIS, "", from, CELLS - (int)strlen(from), to,
			i + 1 < ncurves ? "  " : "\n");
	}
}
