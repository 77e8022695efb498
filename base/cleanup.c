/* The functions behind the _cleanup_ attributes. They keep errno, because they
 * run between the fault and the caller that wants to know its reason.
 */
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cleanup_free(void *pointer_to_pointer)
{
	void *block;
	int saved = errno;

	/* Copied, not dereferenced: the variable may be a pointer to any type. */
	memcpy(&block, pointer_to_pointer, sizeof block);
	free(block);
	errno = saved;
}

void cleanup_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

void cleanup_fclose(FILE **file)
{
	int saved = errno;

	if (*file)
		fclose(*file);
	errno = saved;
}
