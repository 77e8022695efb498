/* Files by the name they were given. SQLite makes every name absolute and allows 512
 * characters for that; a relative one is shorter however deep the working folder lies.
 */
#include <sqlite3.h>

#include "store/private.h"

static int keep_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	sqlite3_snprintf(size, out, "%s", name);
	return SQLITE_OK;
}

const char *vfs_name(void)
{
	static const char name[] = "unsnarl";
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (sqlite3_vfs_find(name) || !usual)
		return usual ? name : NULL;
	/* SQLite keeps it as long as the process lives. */
	sqlite3_vfs *ours = memory_alloc(sizeof *ours);

	*ours = *usual;
	ours->zName = name;
	ours->pNext = NULL;
	ours->xFullPathname = keep_name;
	return sqlite3_vfs_register(ours, 0) == SQLITE_OK ? name : NULL;
}
