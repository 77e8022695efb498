/* A network in which the machine has the addresses that it has outside, all on the loopback interface, and where
 * nobody else is. Sockets that a run leaves half closed would keep its port for a minute; in this
 * network they are dropped at once, so that the next run can bind it again. */
#include "loom/world/network.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
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

/* ---- the machine's own addresses ---- */

struct request {
	struct nlmsghdr head;
	struct ifaddrmsg address;
	struct rtattr attribute;
	unsigned char bytes[sizeof(struct in6_addr)];
};

/* Can be bound and connected to on this machine; those of one link alone mean nothing without it. */
static const void *own_address(const struct sockaddr *address)
{
	if (address && address->sa_family == AF_INET) {
		const struct in_addr *in = &((const struct sockaddr_in *)(const void *)address)->sin_addr;

		return ntohl(in->s_addr) >> 24 == IN_LOOPBACKNET ? NULL : in;
	}
	if (address && address->sa_family == AF_INET6) {
		const struct in6_addr *in = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;

		return IN6_IS_ADDR_LOOPBACK(in) || IN6_IS_ADDR_LINKLOCAL(in) ? NULL : in;
	}
	return NULL;
}

/* The loopback interface has the address as well. What the kernel says to it is of no interest. */
static void adopt(int netlink, unsigned loopback, const struct sockaddr *address)
{
	const void *bytes = own_address(address);
	size_t size =
		bytes && address->sa_family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	struct request request = {
		.head = { .nlmsg_type = RTM_NEWADDR, .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE },
		.address = { .ifa_prefixlen = (unsigned char)(8 * size),
			     .ifa_flags = IFA_F_NODAD,
			     .ifa_index = loopback },
		.attribute = { .rta_len = (unsigned short)RTA_LENGTH(size), .rta_type = IFA_LOCAL },
	};

	if (!bytes)
		return;
	request.address.ifa_family = (unsigned char)address->sa_family;
	request.head.nlmsg_len = (unsigned)(offsetof(struct request, bytes) + size);
	memcpy(request.bytes, bytes, size);
	if (send(netlink, &request, request.head.nlmsg_len, MSG_NOSIGNAL) < 0)
		return;
}

/* Programs bind to these, and getaddrinfo asks whether there are any. */
static void adopt_all(const struct ifaddrs *addresses)
{
	_cleanup_close_ int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	unsigned loopback = if_nametoindex("lo");

	for (; netlink >= 0 && loopback && addresses; addresses = addresses->ifa_next)
		adopt(netlink, loopback, addresses->ifa_addr);
}

bool network_enter(bool *as_user)
{
	struct ifaddrs *addresses = NULL;

	if (getifaddrs(&addresses) != 0)
		addresses = NULL;
	bool entered = namespaces_enter(CLONE_NEWNET, as_user) && raise_loopback();

	if (entered) {
		forget_closed_sockets();
		adopt_all(addresses);
	}
	if (addresses)
		freeifaddrs(addresses);
	return entered;
}
