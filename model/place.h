/* Places: accesses as a person sees them in the source. Unrolling and inlining make
 * several sites of one access; a place is all sites of one kind at one position that
 * access one variable. Sets of predecessors are kept by place, which is the paper's
 * granularity (AI, section 2.1: a line of code) and stays the same when the optimiser
 * or an edit elsewhere changes the sites.
 */
#ifndef MODEL_PLACE_H
#define MODEL_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/site.h"

/* Which of the places in a function that are alike but for their position, and how many of them
 * there are. That, and not the line, tells a place again after an edit. */
struct place_rank {
	uint32_t which, of; /* from 1; 0 for what is no access */
};

/* Is the site an access to memory, as against a call or a loop? */
bool place_is_access(const struct site *site);
/* What a variable's name ends with, behind the last dot: how the rest is called depends on what was inlined
 * into what. */
const char *place_leaf(const char *variable);
/* Same file, function, kind, variable and way through a header. */
bool place_alike(const struct site *a, const struct site *b);
/* Alike, and at the same line and column. */
bool place_same(const struct site *a, const struct site *b);
/* Ranks of `n` sites of one unit. */
void place_ranks(const struct site *sites, size_t n, struct place_rank *out);
/* A number that does not depend on lines: file name without folders, function, kind, variable, rank. */
uint64_t place_id(const struct site *site, struct place_rank rank);
/* "account.c:54"; without debug information "deposit+0x12", which is `function` then. Fresh. */
char *place_words(const char *path, uint32_t line, const char *function);
/* The path without folders. */
const char *place_file_name(const char *path);
/* How many folders two paths have in common, counted from their ends. */
unsigned place_common_folders(const char *a, const char *b);

#endif
