/* Symbols: which source line and which function an address of a file belongs to,
 * by its debug information (in the file, or in a debug file in the usual places),
 * else by its symbols alone. Files are read once. */
#ifndef MODEL_SYMBOLS_H
#define MODEL_SYMBOLS_H

#include <stdbool.h>

#include "model/code_place.h"
#include "model/site.h"

struct symbols;
struct symbols *symbols_new(void);
void symbols_free(struct symbols *symbols); /* NULL is fine */

/* A unit with one site, the place; `hash` is to be its name. `what` is the function that is called, "" for
 * accesses. Never fails: what is not known stays empty, and the function is then NAME+OFFSET or FILE+ADDRESS. */
void symbols_unit(struct symbols *symbols, const char *path, const struct code_place *place, const char *what,
		  uint64_t hash, struct unit *out);

struct symbols_range {
	uint64_t from, to; /* addresses in the file, without `to` */
};
/* The code of a line of the source file whose path ends with `file`; returns how many ranges there are, of which
 * the first `most` are filled. */
size_t symbols_line_ranges(struct symbols *symbols, const char *path, const char *file, unsigned line,
			   struct symbols_range *out, size_t most);

/* Does the address lie before the first line of its function, where arguments are put in their places? False where
 * there is no debug information. */
bool symbols_is_prologue(struct symbols *symbols, const char *path, uint64_t address);

/* For model/variables.c: libdwfl's module of a file; NULL when it cannot be read. */
struct Dwfl_Module *symbols_module(struct symbols *symbols, const char *path);

/* Tells builds of a file apart: by its build id, else by its size and time. */
uint64_t symbols_build(const char *path);

#endif
