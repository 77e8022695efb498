/* Sockets that a run leaves half closed would keep its port for a minute; in this
 * network they are dropped at once, so that the next run can bind it again. */
#include "loom/world/network.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loom/world/namespaces.h"

static bool raise_loopback(void)
{
	_cleanup_close_ int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo" };

	if (socket_fd < 0 || ioctl(socket_fd, SIOCGIFFLAGS, &request) < 0)
		return false;
	request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
	return ioctl(socket_fd, SIOCSIFFLAGS, &request) == 0;
}

/* Where the setting may not be changed, programs without SO_REUSEADDR wait as they do elsewhere. */
static void forget_closed_sockets(void)
{
	_cleanup_close_ int setting = open("/proc/sys/net/ipv4/tcp_max_tw_buckets", O_WRONLY | O_CLOEXEC);

	if (setting >= 0 && write(setting, "0", 1) != 1)
		return;
}

bool network_enter(bool *as_user)
{
	if (!namespaces_enter(CLONE_NEWNET, as_user))
		return false;
	forget_closed_sockets();
	return raise_loopback();
}
