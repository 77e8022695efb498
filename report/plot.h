/* Growing curves as small plots side by side, in braille where the locale is
 * UTF-8 and in ASCII elsewhere. 80 columns.
 */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct plot_curve {
	const char *title;
	const uint64_t *values; /* never falling */
};

/* Up to three curves of `n` > 0 values each, the x axis labelled first..last. */
void plot_print(const struct plot_curve *curves, size_t ncurves, size_t n, uint64_t first, uint64_t last,
		FILE *out);

#endif
