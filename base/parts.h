/* Where the parts of an installation lie that are not the tool itself. */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

#include "base/error.h"

/* The path of a part: in a build folder beside the tool or where that part is built, or in lib/unsnarl of an
 * installation. The caller frees it. */
struct error *parts_find(const char *name, char **path);

#endif
