/* signalfd: a thread reads what others send to the process.
 * may be named: process numbers */
#include "check.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void *reader(void *argument)
{
	struct signalfd_siginfo info;
	EQUAL(read(*(int *)argument, &info, sizeof info), sizeof info);
	EQUAL(info.ssi_signo, SIGUSR2);
	return NULL;
}

int main(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	CHECK(fd >= 0);
	pthread_t thread = start(reader, &fd);
	EQUAL(kill(getpid(), SIGUSR2), 0);
	finish(thread);
	printf("read\n");
	return 0;
}
