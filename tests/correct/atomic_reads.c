/* Reads one atomic variable millions of times, as fast as it can: long, but no livelock. */
#include "check.h"

static int value = 1;

static void *reader(void *none)
{
	long sum = 0;
	for (int i = 0; i < 1500000; i++)
		sum += __atomic_load_n(&value, __ATOMIC_RELAXED);
	EQUAL(sum, 1500000);
	return none;
}

int main(void)
{
	finish(start(reader, NULL));
	printf("read\n");
	return 0;
}
