/* Scope-bound release of resources instead of goto ladders. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#define _cleanup_(function) __attribute__((cleanup(function)))
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

#include <stdio.h>

/* Each takes the address of the variable that goes out of scope. */
void cleanup_free(void *pointer_to_pointer);
void cleanup_close(const int *fd);
void cleanup_fclose(FILE **file);

#endif
