/* What several threads read over and over at two places: the write pairs with the last read of each,
 * though reads that teach nothing are passed over by then.
 * run: -> 0
 * pair: second > write
 * no pair: first > write
 */
#include <pthread.h>
#include <stdio.h>

enum { READERS = 4, TURNS = 20000 };

static volatile long setting;

static void *reader(void *sum)
{
	for (int i = 0; i < TURNS; i++) {
		*(long *)sum += setting; /* @first */
		*(long *)sum += setting; /* @second */
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[READERS];
	long sums[READERS] = { 0 };

	setting = 1;
	for (int i = 0; i < READERS; i++)
		if (pthread_create(&threads[i], NULL, reader, &sums[i]) != 0)
			return 1;
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	setting = 2; /* @write */
	printf("%ld\n", sums[0]);
	return 0;
}
