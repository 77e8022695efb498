/* Reading a run area, or a part of one: in pieces, and never beyond what is there.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "loom/harvest.h"

struct error *harvest_read(int fd, uint64_t offset, void *bytes, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = pread(fd, (char *)bytes + have, size - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(errno, "cannot read the run area");
		if (n == 0)
			break;
		have += (size_t)n;
	}
	memset((char *)bytes + have, 0, size - have);
	return NULL;
}
