/* Workers count until main, which has slept, tells them to stop. */
#include "check.h"

#include <unistd.h>

static int stop;
static long count[2];

static void *worker(void *argument)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		++*(volatile long *)argument;
	return NULL;
}

int main(void)
{
	pthread_t a = start(worker, &count[0]), b = start(worker, &count[1]);
	usleep(20000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	finish(a);
	finish(b);
	printf("stopped\n");
	return 0;
}
