/* A thousand threads at once, or thousands one after the other.
 * run: 1000 1 -> 0
 * run: 1 3000 -> 0
 * run: 100 25 -> 0
 * pair: add > add
 * pair: add > total
 * pair: own > check
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long total, own[1000], finished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;

static void *work(void *argument)
{
	size_t index = (size_t)argument;
	own[index] = (long)index; /* @own */
	pthread_barrier_wait(&together);
	pthread_mutex_lock(&lock);
	total += (long)index; /* @add */
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	size_t threads = argc > 1 ? (size_t)atoi(argv[1]) : 10;
	int rounds = argc > 2 ? atoi(argv[2]) : 1, started = 0;
	pthread_t *ids = calloc(threads, sizeof *ids);
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 17);
	pthread_barrier_init(&together, NULL, (unsigned)threads);
	for (int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < threads; i++)
			started += pthread_create(&ids[i], &small, work, (void *)i) == 0;
		for (size_t i = 0; i < threads; i++)
			pthread_join(ids[i], NULL);
		for (size_t i = 0; i < threads; i++)
			finished += own[i] == (long)i; /* @check */
	}
	printf("%d %ld %ld\n", started, total, finished); /* @total */
	return 0;
}
