/* Found from where the tool itself lies, so that an installation can be moved. */
#include "base/installed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* The folder of this program; NULL with errno when it cannot be told. */
static char *own_folder(void)
{
	for (size_t room = 256;; room *= 2) {
		char *self = memory_alloc(room);
		ssize_t n = readlink("/proc/self/exe", self, room);

		if (n >= 0 && (size_t)n < room) {
			self[n] = '\0';
			char *slash = strrchr(self, '/');

			if (slash)
				*slash = '\0';
			return self;
		}
		free(self);
		if (n < 0)
			return NULL;
	}
}

struct error *installed_find(const char *name, char **path)
{
	static const char *const places[] = { "", "/llvm", "/loom/guard", "/loom/active", "/../lib/unsnarl" };
	_cleanup_free_ char *folder = own_folder();

	if (!folder)
		return error_errno(errno, "cannot find my own program file");
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		*path = memory_format("%s%s/%s", folder, places[i], name);
		if (access(*path, R_OK) == 0)
			return NULL;
		free(*path);
		*path = NULL;
	}
	return error_new("%s is missing beside %s and in ../lib/unsnarl: install unsnarl again", name,
			 folder);
}
