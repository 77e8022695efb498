/* Namespaces for a process that may have no rights of its own to make them. */
#ifndef LOOM_WORLD_NAMESPACES_H
#define LOOM_WORLD_NAMESPACES_H

#include <stdbool.h>

/* As unshare(2), if need be inside a user namespace in which user and group are who they
 * were; *as_user is whether this process is in one already, or is now. False when the
 * kernel refuses; nothing has changed then. The process must have one thread. */
bool namespaces_enter(int flags, bool *as_user);

#endif
