/* A cache whose miss computes a checksum over a table: some schedules pass a thousand times the usual points. */
#include "check.h"

#define WORDS 4096

static unsigned table[WORDS], cached;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int valid;

static unsigned checksum(void)
{
	unsigned sum = 1;
	for (int round = 0; round < 60; round++)
		for (int i = 0; i < WORDS; i++)
			sum = sum * 31 + table[i];
	return sum;
}

static unsigned get(void)
{
	pthread_mutex_lock(&lock);
	if (!valid) {
		cached = checksum();
		valid = 1;
	}
	unsigned value = cached;
	pthread_mutex_unlock(&lock);
	return value;
}

static void *user(void *result)
{
	*(unsigned *)result = get();
	return NULL;
}

static void *dropper(void *none)
{
	if (pthread_mutex_trylock(&lock) == 0) {
		valid = 0;
		pthread_mutex_unlock(&lock);
	}
	return none;
}

int main(void)
{
	unsigned results[2];
	for (unsigned i = 0; i < WORDS; i++)
		table[i] = i * i;
	cached = checksum();
	valid = 1;
	pthread_t a = start(user, &results[0]), b = start(dropper, NULL), c = start(user, &results[1]);
	finish(a);
	finish(b);
	finish(c);
	printf("%u %d\n", results[0], results[0] == results[1]);
	return 0;
}
