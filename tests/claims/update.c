/* Two threads add one each: without anything, or under a lock that each of them gives
 * back in between. Ends with 1 when an update was lost. */
#include <pthread.h>

static volatile int x;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int locked;

static void enter(void)
{
	if (locked)
		pthread_mutex_lock(&mutex); /* door */
}

static void leave(void)
{
	if (locked)
		pthread_mutex_unlock(&mutex);
}

static void *add(void *unused)
{
	enter();
	int seen = x; /* look */
	leave();
	enter();
	x = seen + 1; /* change */
	leave();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	(void)argv;
	locked = argc > 1;
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return x != 2;
}
