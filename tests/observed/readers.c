/* Several readers since the last write: the next write pairs with each of them.
 * run: -> 0
 * pair: put > get1
 * pair: put > get2
 * pair: put > get3
 * pair: get1 > again
 * pair: get2 > again
 * pair: get3 > again
 * pair: put > again
 * pair: again > last
 * no pair: put > last
 * no pair: get1 > last
 * no pair: get1 > get2
 * threads: 5
 */
#include <pthread.h>
#include <stdio.h>

static volatile long value;

static void *read1(void *argument)
{
	long got = value; /* @get1 */
	return (char *)argument + got;
}

static void *read2(void *argument)
{
	long got = value; /* @get2 */
	return (char *)argument + got;
}

static void *read3(void *argument)
{
	long got = value; /* @get3 */
	got += value; /* @get3 */
	return (char *)argument + got;
}

static void *write_again(void *argument)
{
	value = 7; /* @again */
	return argument;
}

int main(void)
{
	void *(*routines[])(void *) = {read1, read2, read3, write_again};
	pthread_t threads[4];
	value = 5; /* @put */
	/* One after the other: reads in the same instant may miss each other. */
	for (int i = 0; i < 4; i++) {
		pthread_create(&threads[i], NULL, routines[i], NULL);
		pthread_join(threads[i], NULL);
	}
	long got = value; /* @last */
	printf("%ld\n", got);
	return 0;
}
