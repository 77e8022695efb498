/* A program for test_binary.sh: large blocks are written as a whole, by free and by read, and then
 * touched here and there, by another thread, before and after they are freed, and when half of one is
 * in use again. Every run does the same. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNK = 65536, SIZE = 5 * CHUNK, ROUNDS = 8 };

static char *block, *half;
static int zeros;
static sem_t turn, back;
static volatile char sum;

static void fill(void)
{
	if (read(zeros, block, SIZE) != SIZE)
		abort();
}

static void look(int from, int to)
{
	for (int at = from; at < to; at += 1000)
		sum += block[at];
}

static void *other(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&turn);
		if (i % 4 == 0)
			look(70000, 80000);
		if (i % 4 == 1)
			block[150000] = 1;
		if (i % 4 == 2)
			free(block);
		if (i % 4 == 3)
			fill();
		sem_post(&back);
		sem_wait(&turn);
		if (half) {
			look(SIZE / 2 + 1000, 3 * CHUNK);
			sum += half[SIZE / 2 - 100]; /* in the same chunk, but nobody has written it */
		}
		sem_post(&back);
	}
	return unused;
}

static void other_goes_on(void)
{
	sem_post(&turn);
	sem_wait(&back);
}

int main(void)
{
	pthread_t thread;

	zeros = open("/dev/zero", O_RDONLY);
	sem_init(&turn, 0, 0);
	sem_init(&back, 0, 0);
	pthread_create(&thread, NULL, other, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		block = aligned_alloc(CHUNK, SIZE); /* so that nothing beside its chunks is written with it */
		if (i != 1)
			fill();
		if (i == 4)
			fill();
		other_goes_on();
		if (i % 4 < 3)
			look(140000, SIZE); /* once after it was freed */
		if (i % 4 != 2)
			free(block);
		half = i % 4 == 3 ? aligned_alloc(CHUNK, SIZE / 2) : NULL;
		other_goes_on();
		free(half);
	}
	pthread_join(thread, NULL);
	return 0;
}
