/* The fork server: a program started with SERVER_ENVIRONMENT stops before its first
 * constructor and forks a child for every order that comes over the socket. What the
 * dynamic linker, the runtime and libraries without hooks do at the start is then
 * paid for once. System
 * calls are made directly: a program may have functions of its own by such names. */
#include "loom/runtime/control.h"

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

/* libc's own environment is not there yet. */
static const char *find_variable(char **environment, const char *name)
{
	size_t length = strlen(name);
	for (char **entry = environment; entry && *entry; entry++)
		if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}

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
	raw_call(SYS_dup2, descriptors[1], STDOUT_FILENO, 0, 0, 0, 0);
	raw_call(SYS_dup2, descriptors[2], STDERR_FILENO, 0, 0, 0, 0);
	for (int i = 1; i < 3; i++)
		if (descriptors[i] > STDERR_FILENO)
			raw_close(descriptors[i]);
	if (descriptors[0] == wanted) {
		raw_call(SYS_fcntl, wanted, F_SETFD, 0, 0, 0, 0);
		return wanted;
	}
	int area = (int)raw_call(SYS_dup2, descriptors[0], wanted, 0, 0, 0, 0);
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

static int server_socket = -1, area_wanted = SERVER_AREA_DESCRIPTOR;

bool server_prepare(char **environment)
{
	const char *area = find_variable(environment, AREA_ENVIRONMENT);
	const char *value = take_variable(environment, SERVER_ENVIRONMENT);
	if (!value)
		return false;
	/* Whoever starts a server may set LD_BIND_NOW to our name: functions are then found once, not in
	 * every child. */
	const char *bind = find_variable(environment, "LD_BIND_NOW");
	if (bind && strcmp(bind, "unsnarl") == 0)
		take_variable(environment, "LD_BIND_NOW");
	server_socket = atoi(value);
	if (area)
		area_wanted = atoi(area);
	units_find_program();
	return true;
}

int server_loop(void)
{
	long server = raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	int descriptors[3];
	while (receive_order(server_socket, descriptors)) {
		pid_t child = fork();
		if (child == 0) {
			raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
			if (raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0) != server)
				_exit(0);
			return take_descriptors(server_socket, descriptors, area_wanted);
		}
		struct server_started started = { .pid = child < 0 ? -errno : child };
		for (int i = 0; i < 3; i++)
			raw_close(descriptors[i]);
		send_answer(server_socket, &started, sizeof started);
		if (child > 0)
			await_child(server_socket, child);
	}
	_exit(0);
}
