/* Allocation that cannot fail (it ends the process with a sentence), growable
 * arrays and printf into fresh strings. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *memory_alloc(size_t size) __attribute__((returns_nonnull, malloc)); /* zeroed */
void *memory_resize(void *block, size_t size) __attribute__((returns_nonnull));
char *memory_string(const char *string) __attribute__((returns_nonnull, malloc));
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull, malloc));
char *memory_vformat(const char *format, va_list arguments) __attribute__((returns_nonnull, malloc));

/* A growable array of any type: `struct { struct pair *items; size_t n, room; } pairs;`
 * is what VEC(struct pair) declares. VEC_PUSH returns a pointer to a zeroed new
 * last item; pointers into the array die with the next push. */
#define VEC(type)               \
	struct {                \
		type *items;    \
		size_t n, room; \
	}
#define VEC_PUSH(vec)                                                                            \
	((vec)->items = memory_grow((vec)->items, (vec)->n, &(vec)->room, sizeof *(vec)->items), \
	 &(vec)->items[(vec)->n++])
#define VEC_FREE(vec) (cleanup_free(&(vec)->items), (vec)->items = NULL, (vec)->n = (vec)->room = 0)
void *memory_grow(void *items, size_t n, size_t *room, size_t item_size) __attribute__((returns_nonnull));

#include "base/cleanup.h"

#endif
