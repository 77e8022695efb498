/* A watchdog waits 30 seconds for the work to be done, and complains if it is not. */
#include "check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int done, work[64];

static void *watchdog(void *none)
{
	struct timespec until = in_ms(CLOCK_REALTIME, 30000);
	pthread_mutex_lock(&lock);
	while (!done)
		EQUAL(pthread_cond_timedwait(&change, &lock, &until), 0);
	pthread_mutex_unlock(&lock);
	return none;
}

int main(void)
{
	pthread_t thread = start(watchdog, NULL);
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < 64; i++)
			work[i] += i;
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_cond_signal(&change);
	pthread_mutex_unlock(&lock);
	finish(thread);
	printf("%d\n", work[63]);
	return 0;
}
