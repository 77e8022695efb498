/* Many threads, some of which make others; more at a time than there are cores. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;
static __thread int mine;

static void add(int n)
{
	mine += n;
	EQUAL(pthread_mutex_lock(&mutex), 0);
	total += n;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	EQUAL(mine, n);
}

static void *leaf(void *none)
{
	add(1);
	return none;
}

static void *branch(void *none)
{
	pthread_t a = start(leaf, NULL), b = start(leaf, NULL);
	add(100);
	finish(b);
	finish(a);
	return none;
}

int main(void)
{
	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		threads[i] = start(branch, NULL);
	for (int i = 7; i >= 0; i--)
		finish(threads[i]);
	for (int i = 0; i < 20; i++)
		finish(start(leaf, NULL));
	printf("%d\n", total);
	return 0;
}
