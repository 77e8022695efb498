/* One thread computes for a while in memory of its own and of others, another waits for it: no point is new for
 * a long time, and nothing is wrong. */
#include "check.h"

static unsigned table[256];
static unsigned result;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int done;

static void *compute(void *none)
{
	unsigned crc = ~0u;
	for (int round = 0; round < 8000; round++)
		for (int i = 0; i < 256; i++)
			crc = crc >> 8 ^ table[(crc ^ (unsigned)i) & 255];
	pthread_mutex_lock(&lock);
	result = crc;
	done = 1;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&lock);
	return none;
}

int main(void)
{
	for (unsigned i = 0; i < 256; i++) {
		unsigned c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[i] = c;
	}
	pthread_t a = start(compute, NULL);
	pthread_mutex_lock(&lock);
	while (!done)
		pthread_cond_wait(&ready, &lock);
	pthread_mutex_unlock(&lock);
	finish(a);
	printf("%08x\n", result);
	return 0;
}
