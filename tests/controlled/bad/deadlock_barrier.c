/* A barrier for three to which only two may come: one leaves when it finds the work done.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_barrier_t barrier;
static int done;

static void *work(void *none)
{
	if (__atomic_exchange_n(&done, 1, __ATOMIC_SEQ_CST) == 2)
		return none;
	pthread_barrier_wait(&barrier);
	return none;
}

int main(void)
{
	EQUAL(pthread_barrier_init(&barrier, NULL, 3), 0);
	pthread_t a = start(work, NULL), b = start(work, NULL);
	__atomic_store_n(&done, 2, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&barrier);
	finish(a);
	finish(b);
	return 0;
}
