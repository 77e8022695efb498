/* The fork server: a program started with SERVER_ENVIRONMENT stops before its first
 * constructor and forks a child for every order that comes over the socket. What the
 * dynamic linker, the runtime and libraries without hooks do at the start is then
 * paid for once. A run is the child of the server's parent, which learns of its end
 * from the kernel: the server is back at its socket by then. System calls are made
 * directly: a program may have functions of its own by such names. */
#include "loom/runtime/process/process.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <errno.h>
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

enum { AREA, OUT, ERR, NOTE };

/* An order, perhaps with a working folder, or descriptors for those to come; *n says how many came. False
 * when there will be no more. */
static bool receive(int socket, int descriptors[SERVER_DESCRIPTORS], size_t *n)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(SERVER_DESCRIPTORS * sizeof(int))];
	} ancillary;
	char order;
	struct iovec part = { &order, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &ancillary,
				  .msg_controllen = sizeof ancillary };
	long bytes;
	do {
		bytes = raw_call(SYS_recvmsg, socket, (long)&message, MSG_CMSG_CLOEXEC, 0, 0, 0);
	} while (bytes == -EINTR);
	const struct cmsghdr *header = bytes == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	*n = header && header->cmsg_type == SCM_RIGHTS ? (header->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	if (*n)
		memcpy(descriptors, CMSG_DATA(header), *n * sizeof(int));
	return bytes == 1;
}

static void raw_close(int fd)
{
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Moves a descriptor to the number where runs shall find it; they and what they execute inherit it. */
static int put_descriptor(int fd, int wanted)
{
	if (fd == wanted) {
		raw_call(SYS_fcntl, fd, F_SETFD, 0, 0, 0, 0);
		return fd;
	}
	int moved = (int)raw_call(SYS_dup2, fd, wanted, 0, 0, 0, 0);
	if (moved < 0)
		return fd;
	raw_close(fd);
	return moved;
}

/* Beside the tables: the program's own memory lies in a served run as in any other. */
_Static_assert(NOTE_START + SERVER_NOTE_SIZE <= REGION_START, "the note lies on no table");

static struct server_note *map_note(int fd)
{
	long place = raw_call(SYS_mmap, NOTE_START, SERVER_NOTE_SIZE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, fd, 0);
	raw_close(fd);
	if (place < 0 && place > -4096)
		return NULL;
	/* Or a run could name any process as the one to be killed. */
	if (madvise((void *)place, SERVER_NOTE_SIZE, MADV_DONTFORK) != 0)
		return NULL;
	return (struct server_note *)place;
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
	if (server_socket == area_wanted) {
		server_socket =
			(int)raw_call(SYS_fcntl, server_socket, F_DUPFD_CLOEXEC, area_wanted + 1, 0, 0, 0);
		raw_close(area_wanted);
	}
	units_find_program();
	return true;
}

/* ---- forking ---- */

/* Where libc keeps the number of the only thread, and its list of robust locks: what fork() would see to. */
static uint32_t *tid_place;
static void *robust_list;
static size_t robust_size;

#define TID_OFFSET 0x2d0 /* in libc's descriptor of a thread, since many versions */

static bool find_places(void)
{
	uint32_t tid = (uint32_t)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	char *self = (char *)pthread_self();
	tid_place = NULL;
	/* The kernel knows, but may not be made to tell. */
	if (raw_call(SYS_prctl, PR_GET_TID_ADDRESS, (long)&tid_place, 0, 0, 0, 0) != 0 || !tid_place)
		tid_place = (uint32_t *)(void *)(self + TID_OFFSET);
	return *tid_place == tid &&
	       raw_call(SYS_get_robust_list, 0, (long)&robust_list, (long)&robust_size, 0, 0, 0) == 0;
}

/* As fork() does in a process with one thread and nothing locked, but the child is the parent's. */
static int fork_run(struct server_note *note)
{
	long flags = CLONE_PARENT | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
	long pid = raw_call(SYS_clone, flags, 0, (long)&note->pid, (long)tid_place, 0, 0);
	if (pid == 0 && robust_list)
		raw_call(SYS_set_robust_list, (long)robust_list, (long)robust_size, 0, 0, 0, 0);
	return (int)pid;
}

/* The run ends with whoever waits for it. */
static void begin_run(long parent)
{
	raw_close(server_socket);
	raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	if (raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0) != parent)
		_exit(0);
}

static void answer(void)
{
	raw_call(SYS_sendto, server_socket, (long)"", 1, MSG_NOSIGNAL, 0, 0);
}

void server_loop(void)
{
	long parent = raw_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
	int descriptors[SERVER_DESCRIPTORS];
	struct server_note *note = NULL;
	size_t n;
	if (!find_places())
		_exit(0); /* each run is then started alone */
	processors_follow((int)parent);
	while (receive(server_socket, descriptors, &n)) {
		if (n == SERVER_DESCRIPTORS) {
			note = map_note(descriptors[NOTE]);
			put_descriptor(descriptors[OUT], STDOUT_FILENO);
			put_descriptor(descriptors[ERR], STDERR_FILENO);
			if (!note || !runtime_take_area(put_descriptor(descriptors[AREA], area_wanted)))
				break;
			answer();
			continue;
		}
		if (!note)
			break;
		if (n == 1) {
			raw_call(SYS_fchdir, descriptors[0], 0, 0, 0, 0, 0);
			raw_close(descriptors[0]);
		}
		text_before_run(note->controlled != 0);
		int pid = fork_run(note);
		if (pid == 0) {
			begin_run(parent);
			text_begin_run(area_wanted + 2);
			return;
		}
		if (pid < 0) {
			__atomic_store_n(&note->pid, pid, __ATOMIC_RELEASE); /* run_of in loom/server.c */
			answer();
		}
	}
	_exit(0);
}
