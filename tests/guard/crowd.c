/* Thousands of threads over the life of the process, many at a time, that all touch one
 * location; children of forks; a signal handler that touches it as well; and an end while
 * threads are held. What it prints depends on nothing that a guard does. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	_Atomic long count;
	volatile long seen;
} shared;

static void handle(int number)
{
	(void)number;
	shared.seen++;
}

static void *work(void *unused)
{
	(void)unused;
	shared.count++;
	shared.seen = 1;
	return NULL;
}

int main(void)
{
	pthread_t threads[64];

	signal(SIGUSR1, handle);
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 64; i++)
			if (pthread_create(&threads[i], NULL, work, NULL) != 0)
				return 2;
		raise(SIGUSR1);
		for (int i = 0; i < 64; i++)
			pthread_join(threads[i], NULL);
	}
	pid_t child = fork();
	if (child == 0) {
		shared.count++;
		_exit(shared.count == 2561 ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	printf("%ld %d\n", shared.count, status);
	fflush(stdout);
	pthread_create(&threads[0], NULL, work, NULL);
	exit(0);
}
