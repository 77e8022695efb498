/* A thread that is cancelled inside a once routine has not run it: another one does. */
#include "check.h"

#include <semaphore.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t inside, never;
static int attempts, complete;

static void initialise(void)
{
	if (++attempts == 1) {
		EQUAL(sem_post(&inside), 0);
		sem_wait(&never); /* a cancellation point */
	}
	complete++;
}

static void *use(void *none)
{
	EQUAL(pthread_once(&once, initialise), 0);
	EQUAL(complete, 1);
	return none;
}

int main(void)
{
	EQUAL(sem_init(&inside, 0, 0), 0);
	EQUAL(sem_init(&never, 0, 0), 0);
	pthread_t first = start(use, NULL);
	EQUAL(sem_wait(&inside), 0);
	pthread_t second = start(use, NULL);
	EQUAL(pthread_cancel(first), 0);
	CHECK(finish(first) == PTHREAD_CANCELED);
	finish(second);
	use(NULL);
	printf("%d %d\n", attempts, complete);
	return 0;
}
