/* Every wait with a time-out of a minute sees what it waits for, since that takes milliseconds. */
#include "check.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
#include <threads.h>

#define MINUTE 60000

static int ends[8][2];
static sem_t counted;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static int work[64];

static void *by_poll(void *none)
{
	struct pollfd one = { .fd = ends[0][0], .events = POLLIN };
	EQUAL(poll(&one, 1, MINUTE), 1);
	return none;
}

static void *by_select(void *none)
{
	fd_set set;
	struct timeval wait = { .tv_sec = 60 };
	FD_ZERO(&set);
	FD_SET(ends[1][0], &set);
	EQUAL(select(ends[1][0] + 1, &set, NULL, NULL, &wait), 1);
	return none;
}

static void *by_epoll(void *none)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);
	EQUAL(epoll_ctl(fd, EPOLL_CTL_ADD, ends[2][0], &event), 0);
	EQUAL(epoll_wait(fd, &event, 1, MINUTE), 1);
	close(fd);
	return none;
}

static void *by_socket(void *none)
{
	struct timeval wait = { .tv_sec = 60 };
	char c;
	EQUAL(setsockopt(ends[3][0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait), 0);
	EQUAL(recv(ends[3][0], &c, 1, 0), 1);
	return none;
}

static void *by_semaphore(void *none)
{
	struct timespec until = in_ms(CLOCK_REALTIME, MINUTE);
	EQUAL(sem_timedwait(&counted, &until), 0);
	return none;
}

static void *by_mutex(void *none)
{
	struct timespec until = in_ms(CLOCK_REALTIME, MINUTE);
	EQUAL(pthread_mutex_timedlock(&held, &until), 0);
	EQUAL(pthread_mutex_unlock(&held), 0);
	return none;
}

static void *by_rwlock(void *none)
{
	struct timespec until = in_ms(CLOCK_REALTIME, MINUTE);
	EQUAL(pthread_rwlock_timedrdlock(&shared, &until), 0);
	EQUAL(pthread_rwlock_unlock(&shared), 0);
	return none;
}

static void *by_signal(void *none)
{
	sigset_t set;
	struct timespec wait = { .tv_sec = 60 };
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(sigtimedwait(&set, NULL, &wait), SIGUSR1);
	return none;
}

int main(void)
{
	void *(*const all[])(void *) = { by_poll,      by_select, by_epoll,  by_socket,
					 by_semaphore, by_mutex,  by_rwlock, by_signal };
	pthread_t threads[8];
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	for (int i = 0; i < 3; i++)
		EQUAL(pipe(ends[i]), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[3]), 0);
	sem_init(&counted, 0, 0);
	pthread_mutex_lock(&held);
	pthread_rwlock_wrlock(&shared);
	for (int i = 0; i < 8; i++)
		threads[i] = start(all[i], NULL);
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < 64; i++)
			work[i] += i;
	for (int i = 0; i < 4; i++)
		EQUAL(write(ends[i][1], "x", 1), 1);
	sem_post(&counted);
	pthread_mutex_unlock(&held);
	pthread_rwlock_unlock(&shared);
	EQUAL(pthread_kill(threads[7], SIGUSR1), 0);
	struct timespec until = in_ms(CLOCK_REALTIME, MINUTE);
	for (int i = 0; i < 8; i++)
		EQUAL(pthread_timedjoin_np(threads[i], NULL, &until), 0);
	printf("%d\n", work[63]);
	return 0;
}
