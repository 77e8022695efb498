/* Two threads that look at a number under a lock and change it under the next one; built with -DSLOW the moment
 * between the two is long enough that it nearly always goes wrong. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static long look(void)
{
	pthread_mutex_lock(&lock);
	long now = total;
	pthread_mutex_unlock(&lock);
	return now;
}

static void *add(void *unused)
{
	for (int i = 0; i < 20; i++) {
		long now = look();

#ifdef SLOW
		usleep(200);
#endif
		pthread_mutex_lock(&lock);
		total = now + 1;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", total);
	return total == 40 ? 0 : 1;
}
