/* Allocation for the tool's own process. Running out of memory is not an error
 * a caller could mend, so it ends the process here with a sentence and status 2;
 * nothing of value is lost, because the store keeps each run as it ends.
 * Not for the runtime that lives in the observed program.
 */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void out_of_memory(size_t size)
{
	char text[128];
	int n = snprintf(text, sizeof text, "unsnarl: out of memory: no room for %zu more bytes\n", size);

	/* write, not fprintf: stdio may want memory itself. */
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(2);
	_exit(2);
}

void *memory_alloc(size_t size)
{
	void *block = calloc(1, size ? size : 1);

	if (!block)
		out_of_memory(size);
	return block;
}

void *memory_resize(void *block, size_t size)
{
	void *resized = realloc(block, size ? size : 1);

	if (!resized)
		out_of_memory(size);
	return resized;
}

char *memory_string(const char *string)
{
	size_t size = strlen(string) + 1;

	return memcpy(memory_alloc(size), string, size);
}

char *memory_vformat(const char *format, va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	size_t size = length < 0 ? 1 : (size_t)length + 1;
	char *string = memory_alloc(size);

	vsnprintf(string, size, format, again);
	va_end(again);
	return string;
}

char *memory_format(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *string = memory_vformat(format, arguments);
	va_end(arguments);
	return string;
}

void *memory_grow(void *items, size_t n, size_t *room, size_t item_size)
{
	if (n == *room) {
		size_t wanted = n ? n * 2 : 8;

		if (wanted < n || wanted > SIZE_MAX / item_size)
			out_of_memory(SIZE_MAX);
		items = memory_resize(items, wanted * item_size);
		*room = wanted;
	}
	/* Zeroed at each push, not once per growth: the owner may have popped. */
	memset((char *)items + n * item_size, 0, item_size);
	return items;
}
