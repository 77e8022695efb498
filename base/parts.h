/* Where the parts of an installation lie that are not the tool itself. */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

#include "base/error.h"

/* The path of a part: beside the tool or in llvm/ of a build folder, or in lib/unsnarl of an
 * installation. The caller frees it. */
struct error *parts_find(const char *name, char **path);

#endif
