/* A lost update, and much work that has nothing to do with it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int total;
static unsigned noise[2];

static void *work(void *argument)
{
	int id = *(int *)argument;
	unsigned state = (unsigned)id + 7;

	for (int i = 0; i < 20; i++) {
		total = total + 1; /* criterion */
		for (int k = 0; k < 100000; k++)
			state = state * 1664525u + 1013904223u; /* ballast */
		noise[id] ^= state;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int ids[2] = { 0, 1 };

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &ids[i]) != 0)
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%u %u\n", noise[0], noise[1]);
	return total == 40 ? 0 : 1;
}
