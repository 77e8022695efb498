/* What a program prints: kept only as its last bytes, and on the way compared
 * with an expectation or spooled for a check. */
#ifndef LOOM_OUTPUT_H
#define LOOM_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define OUTPUT_TAIL 16384u

struct expect {
	char *bytes;
	size_t size;
};

/* Reads the whole file. */
struct error *expect_read(const char *path, struct expect *expect);
void expect_free(struct expect *expect);

struct output {
	const struct expect *expect; /* NULL = not compared */
	int spool;                   /* -1 = not spooled */
	int spool_error;             /* errno of the first failed write */
	size_t equal;                /* bytes that were as expected */
	uint64_t line;               /* the line they end in, from 1 */
	uint64_t total;
	char tail[OUTPUT_TAIL]; /* byte i of the output is at i % OUTPUT_TAIL */
};

void output_start(struct output *output, const struct expect *expect, int spool);
void output_take(struct output *output, const char *bytes, size_t size);

/* After the end: the first line that is not as expected, 0 when there is none. */
uint64_t output_differs(const struct output *output);

/* The ends of `n` outputs one after the other, OUTPUT_TAIL bytes at most, a fair
 * share to each; NUL bytes become '?'. NULL when nothing was printed. */
char *output_join(const struct output *const *outputs, size_t n);

/* Names what was printed, by its length and its end. */
uint64_t output_hash(uint64_t state, const struct output *output);

/* A nameless temporary file. */
struct error *output_spool(int *fd);

#endif
