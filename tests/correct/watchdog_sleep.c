/* A detached watchdog sleeps for ten seconds and ends the program if it is still there. */
#include "check.h"

#include <unistd.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *watchdog(void *none)
{
	sleep(10);
	abort();
	return none;
}

static void *worker(void *none)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		shared++;
		pthread_mutex_unlock(&lock);
	}
	return none;
}

int main(void)
{
	EQUAL(pthread_detach(start(watchdog, NULL)), 0);
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	finish(a);
	finish(b);
	printf("%d\n", shared);
	return 0;
}
