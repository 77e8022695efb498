/* A small compressor: blocks go to workers over a queue and come back in order. */
#include "check.h"

#define BLOCKS 6
#define SIZE 2048

static unsigned char input[BLOCKS][SIZE], output[BLOCKS][2 * SIZE];
static size_t lengths[BLOCKS];
static int next, done[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;

static size_t pack(const unsigned char *from, unsigned char *to)
{
	size_t n = 0;
	for (size_t i = 0; i < SIZE;) {
		size_t run = 1;
		while (i + run < SIZE && run < 255 && from[i + run] == from[i])
			run++;
		to[n++] = (unsigned char)run;
		to[n++] = from[i];
		i += run;
	}
	return n;
}

static void *packer(void *none)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		int block = next < BLOCKS ? next++ : -1;
		pthread_mutex_unlock(&lock);
		if (block < 0)
			return none;
		lengths[block] = pack(input[block], output[block]);
		pthread_mutex_lock(&lock);
		done[block] = 1;
		pthread_cond_signal(&finished);
		pthread_mutex_unlock(&lock);
	}
}

int main(void)
{
	unsigned sum = 0;
	for (int b = 0; b < BLOCKS; b++)
		for (int i = 0; i < SIZE; i++)
			input[b][i] = (unsigned char)((i / (b + 3)) * 7);
	pthread_t a = start(packer, NULL), b = start(packer, NULL);
	for (int block = 0; block < BLOCKS; block++) {
		pthread_mutex_lock(&lock);
		while (!done[block])
			pthread_cond_wait(&finished, &lock);
		pthread_mutex_unlock(&lock);
		for (size_t i = 0; i < lengths[block]; i++)
			sum = sum * 31 + output[block][i];
	}
	finish(a);
	finish(b);
	printf("%u\n", sum);
	return 0;
}
