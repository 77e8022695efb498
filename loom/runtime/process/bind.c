/* Notes in the run area that the program binds a port of its own choice: two runs at
 * once would be in each other's way, so each needs a network to itself. */
#include "loom/runtime/interpose.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

/* A port that the kernel chooses is always free; a name without a file belongs to the network. */
static bool is_chosen(const struct sockaddr *address, socklen_t size)
{
	if (!address || size < sizeof(sa_family_t) + 1)
		return false;
	if (address->sa_family == AF_INET && size >= sizeof(struct sockaddr_in))
		return ((const struct sockaddr_in *)(const void *)address)->sin_port != 0;
	if (address->sa_family == AF_INET6 && size >= sizeof(struct sockaddr_in6))
		return ((const struct sockaddr_in6 *)(const void *)address)->sin6_port != 0;
	return address->sa_family == AF_UNIX && address->sa_data[0] == '\0';
}

INTERPOSE int bind(int fd, const struct sockaddr *address, socklen_t size)
{
	/* Relaxed: launch reads it when the process has ended. */
	if (runtime.active && is_chosen(address, size))
		__atomic_store_n(&runtime.head->bound, 1, __ATOMIC_RELAXED);
	return REAL(bind)(fd, address, size);
}
