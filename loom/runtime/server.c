/* The fork server: a program started with SERVER_ENVIRONMENT stops before its first
 * constructor and forks a child for every order that comes over the socket. What
 * the dynamic linker and the runtime do at the start is then paid for once. System
 * calls are made directly: a program may have functions of its own by such names. */
#include "loom/runtime/control.h"
#include "loom/runtime/interpose.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

#define SERVER_AREA_DESCRIPTOR 1000

/* Takes the variable out of the environment: programs that this one starts are no servers. */
static const char *take_variable(char **environment, const char *name)
{
	size_t length = strlen(name);
	const char *value = NULL;
	char **to = environment;
	for (char **from = environment; from && *from; from++) {
		if (strncmp(*from, name, length) == 0 && (*from)[length] == '=')
			value = *from + length + 1;
		else
			*to++ = *from;
	}
	if (to)
		*to = NULL;
	return value;
}

/* One order: area, stdout, stderr. False when there will be no more. */
static bool receive_order(int socket, int descriptors[3])
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} ancillary;
	char order;
	struct iovec part = { &order, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &ancillary,
				  .msg_controllen = sizeof ancillary };
	long n;
	do {
		n = raw_call(SYS_recvmsg, socket, (long)&message, MSG_CMSG_CLOEXEC, 0, 0, 0);
	} while (n == -EINTR);
	const struct cmsghdr *header = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(3 * sizeof(int)))
		return false;
	memcpy(descriptors, CMSG_DATA(header), 3 * sizeof(int));
	return true;
}

static void send_answer(int socket, const void *answer, size_t size)
{
	long n;
	do {
		n = raw_call(SYS_sendto, socket, (long)answer, (long)size, MSG_NOSIGNAL, 0, 0);
	} while (n == -EINTR);
	if (n < 0)
		_exit(0);
}

static void raw_close(int fd)
{
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* In the child: descriptors where the program expects them. The area is inherited by programs that
 * this one executes, under the number that the environment names. */
static int take_descriptors(int socket, const int descriptors[3], int wanted)
{
	raw_close(socket);
	dup2(descriptors[1], STDOUT_FILENO);
	dup2(descriptors[2], STDERR_FILENO);
	for (int i = 1; i < 3; i++)
		if (descriptors[i] > STDERR_FILENO)
			raw_close(descriptors[i]);
	if (descriptors[0] == wanted) {
		fcntl(wanted, F_SETFD, 0);
		return wanted;
	}
	int area = dup2(descriptors[0], wanted);
	if (area < 0)
		return descriptors[0];
	raw_close(descriptors[0]);
	return area;
}

static void await_child(int socket, pid_t child)
{
	int status = 0;
	struct rusage usage;
	memset(&usage, 0, sizeof usage);
	while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
		;
	uint64_t seconds = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
	struct server_ended ended = { .status = status,
				      .cpu_us = seconds * 1000000u +
						(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
				      .peak_kib = (uint64_t)usage.ru_maxrss };
	send_answer(socket, &ended, sizeof ended);
}

int server_start(char **environment)
{
	const char *area = NULL;
	for (char **entry = environment; entry && *entry; entry++)
		if (strncmp(*entry, AREA_ENVIRONMENT "=", sizeof AREA_ENVIRONMENT) == 0)
			area = *entry + sizeof AREA_ENVIRONMENT;
	const char *value = take_variable(environment, SERVER_ENVIRONMENT);
	if (!value)
		return -1;
	int socket = atoi(value), wanted = area ? atoi(area) : SERVER_AREA_DESCRIPTOR;
	pid_t server = getpid();
	int descriptors[3];
	interpose_resolve();
	while (receive_order(socket, descriptors)) {
		pid_t child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != server)
				_exit(0);
			return take_descriptors(socket, descriptors, wanted);
		}
		struct server_started started = { .pid = child < 0 ? -errno : child };
		for (int i = 0; i < 3; i++)
			raw_close(descriptors[i]);
		send_answer(socket, &started, sizeof started);
		if (child > 0)
			await_child(socket, child);
	}
	_exit(0);
}
