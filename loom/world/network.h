/* A network of a worker's own: a loopback interface with the machine's addresses and nothing else. */
#ifndef LOOM_WORLD_NETWORK_H
#define LOOM_WORLD_NETWORK_H

#include <stdbool.h>

/* Moves this process, and what it starts from now on, into a new network; false when
 * the kernel refuses. `as_user` is that of namespaces_enter. */
bool network_enter(bool *as_user);

#endif
