/* Two threads add to one number in the wrong way, and to another in the right one.
 * With an argument the right one alone. Exit status 1 when an addition was lost. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int wrong, right;
static int only_right;

static void *work(void *unused)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		right += 1; /* right */
		pthread_mutex_unlock(&lock);
		if (!only_right)
			wrong = wrong + 1; /* wrong */
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	(void)argv;
	only_right = argc > 1;
	if (pthread_create(&a, 0, work, 0) || pthread_create(&b, 0, work, 0))
		return 2;
	pthread_join(a, 0);
	pthread_join(b, 0);
	return right != 100 || wrong != (only_right ? 0 : 100);
}
