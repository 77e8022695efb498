/* Bitcode that `unsnarl cc` put into programs and libraries, or that lies in files of its own. */
#ifndef STATIC_BITCODE_H
#define STATIC_BITCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

struct bitcode {
	char *bytes;
	size_t size;
	char *from;   /* the file that holds it */
	bool checked; /* the bytes are those that the compiler wrote: a hash says so */
};

struct bitcodes {
	VEC(struct bitcode) items;
	VEC(char *) libraries; /* shared libraries that the files name as needed, as they are named there */
	VEC(char *) folders;   /* where the files say that these lie */
	VEC(char *) merged;    /* libraries whose bitcode is among the items, as they are named */
	VEC(char *) skipped;   /* libraries that were found and hold no bitcode */
};

/* Everything that the file holds; for a program or library also the shared libraries that it needs and that
 * hold bitcode. Error when the file holds none, is damaged or is not of this version. */
struct error *bitcode_read(const char *path, struct bitcodes *out);
void bitcode_free(struct bitcodes *bitcodes);

#endif
