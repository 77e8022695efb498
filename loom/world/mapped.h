/* Whether files can be copied into a layer by a user without rights. */
#ifndef LOOM_WORLD_MAPPED_H
#define LOOM_WORLD_MAPPED_H

#include <stdbool.h>

/* In a user namespace there is one user and one group: files of others cannot be copied up,
 * and a program that may write them all the same would see errors that it does not see
 * outside. True when `relative` in `folder`, the folders on the way there and what is in it
 * (of large trees a part) are all this user's and his group's, or not his to write. */
bool mapped_all(int folder, const char *relative);

#endif
