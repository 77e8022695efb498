/* Nobody passes a barrier before all have come, and one of each round is the serial thread. */
#include "check.h"

#define THREADS 3
#define ROUNDS 3

static pthread_barrier_t barrier;
static int arrived[ROUNDS], serial;

static void *walk(void *none)
{
	for (int round = 0; round < ROUNDS; round++) {
		__atomic_add_fetch(&arrived[round], 1, __ATOMIC_SEQ_CST);
		int code = pthread_barrier_wait(&barrier);
		CHECK(code == 0 || code == PTHREAD_BARRIER_SERIAL_THREAD);
		EQUAL(__atomic_load_n(&arrived[round], __ATOMIC_SEQ_CST), THREADS);
		if (code)
			__atomic_add_fetch(&serial, 1, __ATOMIC_SEQ_CST);
	}
	return none;
}

int main(void)
{
	EQUAL(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
	EQUAL(pthread_barrier_init(&barrier, NULL, 1), 0);
	EQUAL(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	EQUAL(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	EQUAL(pthread_barrier_destroy(&barrier), 0);
	EQUAL(pthread_barrier_init(&barrier, NULL, THREADS), 0);
	pthread_t a = start(walk, NULL), b = start(walk, NULL);
	walk(NULL);
	EQUAL(pthread_barrier_destroy(&barrier), 0); /* waits for those on their way out */
	finish(a);
	finish(b);
	printf("%d\n", serial);
	return 0;
}
