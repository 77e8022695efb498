/* An R-R-W | R-R-W atomicity violation: who takes an item reads where the queue begins,
 * then reads it again to move it on, without a lock: two may take the same item. */
#include <pthread.h>
#include <stdio.h>

#include "../pause.h"

#define ITEMS 4

static struct {
	volatile unsigned begin;
	unsigned items[ITEMS];
} queue = { 0, { 1, 10, 100, 1000 } };

static unsigned work(unsigned state, int steps)
{
	for (int i = 0; i < steps; i++)
		state = (state ^ (state >> 15)) * 2246822519u + 3;
	return state;
}

static unsigned take(void)
{
	unsigned item = queue.items[queue.begin]; PAUSE(5);
	unsigned next = queue.begin + 1; PAUSE(5);
	queue.begin = next;
	return item;
}

static void *worker_main(void *sum)
{
	unsigned *out = sum;

	work(1, out[1] ? 900000 : 1000);
	for (int i = 0; i < ITEMS / 2; i++)
		out[0] += take();
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	unsigned sums[2][2] = { { 0, 0 }, { 0, 1 } };

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker_main, sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%u\n", sums[0][0] + sums[1][0]);
	return sums[0][0] + sums[1][0] != 1111;
}
