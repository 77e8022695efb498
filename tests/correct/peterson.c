/* Mutual exclusion by sequentially consistent atomics alone. */
#include "check.h"

#include <stdatomic.h>

static atomic_int wants[2], turn;
static int inside, total;

static void *count(void *argument)
{
	int me = *(int *)argument;
	for (int i = 0; i < 3; i++) {
		atomic_store(&wants[me], 1);
		atomic_store(&turn, 1 - me);
		while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me)
			;
		EQUAL(inside++, 0);
		total++;
		EQUAL(--inside, 0);
		atomic_store(&wants[me], 0);
	}
	return NULL;
}

int main(void)
{
	int zero = 0, one = 1;
	pthread_t a = start(count, &zero), b = start(count, &one);
	finish(a);
	finish(b);
	printf("%d\n", total);
	return 0;
}
