/* exit from a second thread while main waits for it; handlers run in that thread, last first. */
#include "check.h"

#include <unistd.h>

static pthread_t leaver;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int order;

static void first(void)
{
	EQUAL(order, 1);
	CHECK(pthread_equal(pthread_self(), leaver));
	EQUAL(pthread_mutex_lock(&mutex), 0);
	printf("handlers: %d\n", ++order);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
}

static void second(void)
{
	EQUAL(order++, 0);
}

static void *leave(void *none)
{
	leaver = pthread_self();
	exit(0);
	return none;
}

int main(void)
{
	EQUAL(atexit(first), 0);
	EQUAL(atexit(second), 0);
	pthread_join(start(leave, NULL), NULL);
	for (;;)
		pause();
}
