/* Command lines by table: a verb describes its options once, and parsing, the
 * sentences about mistakes and the text of `help VERB` all come from that
 * description. Knows nothing of what the options mean.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* What an option's value becomes in the verb's struct. */
enum options_kind {
	OPTIONS_FLAG,    /* bool; takes no value */
	OPTIONS_STRING,  /* const char *, not empty */
	OPTIONS_NUMBER,  /* uint64_t within low..high */
	OPTIONS_SECONDS, /* double, 0 or more */
	OPTIONS_WORD,    /* unsigned: place of the value in `words` */
	OPTIONS_WORDS,   /* unsigned: a bit for each word of a comma list; also "all" and "none" */
};

struct options_entry {
	char letter;       /* 0: no short form */
	const char *name;  /* long form without dashes; NULL ends the table */
	const char *value; /* how the help names the value; NULL for flags */
	enum options_kind kind;
	size_t offset; /* of the variable in the verb's struct */
	uint64_t low, high;
	const char *bare;         /* the value meant when none is given; NULL: one is needed */
	const char *const *words; /* NULL-terminated */
	const char *help;
};

struct options_page {
	const char *verb;
	const char *operands;                /* for the usage line */
	const char *summary;                 /* one line for the list of verbs */
	const char *text;                    /* paragraphs, filled to 80 columns by the help */
	const char *examples;                /* printed as they stand; may be NULL */
	const struct options_entry *entries; /* may be NULL */
	bool program; /* operands are a program and its arguments: the first one ends the options */
};

/* Reads argv[1..] into the struct `into`, whose contents are the defaults.
 * *operands is what is left, in order, NULL-terminated (argv is reused). When
 * help was asked for it is printed to stdout and *operands is NULL. */
struct error *options_parse(const struct options_page *page, int argc, char **argv, void *into,
			    char ***operands);

void options_help(const struct options_page *page, FILE *out);

/* Prints `text` filled to 80 columns, each line after `indent` spaces; the first
 * line starts at column `at`. Newlines in the text stay. */
void options_fill(FILE *out, const char *text, int indent, int at);

/* The name that `word` was probably meant to be, NULL when none is near. */
const char *options_nearest(const char *word, const char *const *names, size_t n);

#endif
