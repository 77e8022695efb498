/* Main takes away what a thread still uses several times. Ends with 1 when it was used
 * after that. */
#include <pthread.h>

static volatile int there = 1;
static int failed;

static void *use(void *unused)
{
	for (volatile int i = 0; i < 3; i++)
		failed |= !there; /* use */
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, use, NULL);
	there = 0; /* take away */
	pthread_join(t, NULL);
	return failed;
}
