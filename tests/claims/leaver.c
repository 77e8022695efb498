/* main does not wait for its thread, which ends the program with 1 when it comes behind the change. */
#include <pthread.h>
#include <unistd.h>

static volatile int changed;

static void *check(void *unused)
{
	if (changed) /* look */
		_exit(1);
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, check, NULL);
	changed = 1; /* change */
	return 0;
}
