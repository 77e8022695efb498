/* A copy of the working folder for kernels that give no private view of it. */
#ifndef LOOM_WORLD_COPY_H
#define LOOM_WORLD_COPY_H

#include <stdbool.h>

struct copy {
	int original, folder; /* -1 */
	char *path;           /* of what holds it; NULL = there is none */
	char *temporary;      /* an empty folder beside the copy, for temporary files */
};

/* Copies the working folder, if it is small, into the temporary folder; false when it is
 * not, or cannot be copied. */
bool copy_make(struct copy *copy);
/* Makes it as the original again; *wrote when it was not. */
bool copy_restore(struct copy *copy, bool *wrote);
void copy_remove(struct copy *copy);

#endif
