/* Where the parts of an installation lie that are not the tool itself. */
#ifndef BASE_INSTALLED_H
#define BASE_INSTALLED_H

#include "base/error.h"

/* The path of a part: in a build folder beside the tool or where that part is built, or in lib/unsnarl of an
 * installation. The caller frees it. */
struct error *installed_find(const char *name, char **path);

#endif
