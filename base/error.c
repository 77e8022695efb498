/* Makes and frees errors. A sentence is built where the fault is seen and
 * travels up as a value; nothing here prints.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static struct error *wrap(char *message)
{
	struct error *error = memory_alloc(sizeof *error);

	error->message = message;
	return error;
}

struct error *error_new(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *message = memory_vformat(format, arguments);
	va_end(arguments);
	return wrap(message);
}

struct error *error_errno(int errnum, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	_cleanup_free_ char *what = memory_vformat(format, arguments);
	va_end(arguments);
	return wrap(memory_format("%s: %s", what, strerror(errnum)));
}

void error_free(struct error *error)
{
	if (!error)
		return;
	free(error->message);
	free(error);
}

void error_freep(struct error **error)
{
	error_free(*error);
}
