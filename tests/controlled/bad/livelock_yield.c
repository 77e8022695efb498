/* Two threads, each spins with yields until the other has gone first.
 * expect: livelock */
#include "../../correct/check.h"

#include <sched.h>

static int gone[2];

static void *after_you(void *argument)
{
	int me = *(int *)argument;
	while (!__atomic_load_n(&gone[1 - me], __ATOMIC_ACQUIRE))
		sched_yield();
	__atomic_store_n(&gone[me], 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(void)
{
	int zero = 0, one = 1;
	pthread_t a = start(after_you, &zero), b = start(after_you, &one);
	finish(a);
	finish(b);
	return 0;
}
