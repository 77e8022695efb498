/* Text on its way to a terminal. Names, paths and program output may hold
 * anything: what is printed goes through text_clean first, so that no control
 * sequence gets out and every column is counted right.
 */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_BAD 0xfffdu /* what text_decode makes of bytes that are no UTF-8 */

/* Next code point of `bytes` (size > 0): returns how many bytes it takes. */
size_t text_decode(const char *bytes, size_t size, uint32_t *point);

/* A fresh string of printable characters on one line. */
char *text_clean(const char *bytes) __attribute__((returns_nonnull));
char *text_clean_size(const char *bytes, size_t size) __attribute__((returns_nonnull));

/* The rest is for clean text. */
int text_width(const char *clean); /* in columns */
/* A fresh copy of at most `width` columns, with an ellipsis where text was left
 * out: at the end, or at the beginning with `keep_end`. */
char *text_cut(const char *clean, int width, bool keep_end) __attribute__((returns_nonnull));
/* A fresh copy; on a terminal it is cut so that `beside` more columns fit on its line. */
char *text_cut_line(const char *clean, int beside) __attribute__((returns_nonnull));
/* Prints `clean` and blanks up to `width`, the blanks first with `right`. */
void text_pad(FILE *out, const char *clean, int width, bool right);

bool text_utf8(void);         /* does the locale speak UTF-8? */
const char *text_arrow(void); /* one or two columns: see text_width */

/* Columns of the terminal on stdout, within 60..160; 0 when it is none. */
int text_columns(void);

/* A short absolute or relative path for people: relative to the working folder
 * when below it. Clean. */
char *text_path(const char *path) __attribute__((returns_nonnull));

/* A word for a shell prompt: clean, quoted where a shell would need it. */
char *text_shell(const char *word) __attribute__((returns_nonnull));

#endif
