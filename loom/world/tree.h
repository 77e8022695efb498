/* Trees of files, by descriptor of the folder that holds them: no path is ever too
 * long, no link is followed. */
#ifndef LOOM_WORLD_TREE_H
#define LOOM_WORLD_TREE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Removes a file or a folder with all it holds; what cannot be removed stays. */
bool tree_remove(int folder, const char *name);

/* Makes the regular file `name` in `to` as it is in `from`: bytes, mode, times. */
bool tree_copy_file(int from, int to, const char *name, const struct stat *like);

/* The entries of a folder that is open for reading, without . and ..; NULL when it
 * cannot be read. Closed by closedir. */
DIR *tree_open(int folder, const char *name);
const char *tree_next(DIR *entries);

/* Same bytes, as far as size and time of the last change tell. */
bool tree_same_file(const struct stat *a, const struct stat *b);

#endif
