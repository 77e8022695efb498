/* Two hundred threads wait for one broadcast. */
#include "check.h"

#define THREADS 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static int open_, passed;

static void *runner(void *none)
{
	pthread_mutex_lock(&lock);
	while (!open_)
		pthread_cond_wait(&go, &lock);
	passed++;
	pthread_mutex_unlock(&lock);
	return none;
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_create(&threads[i], &attributes, runner, NULL), 0);
	pthread_mutex_lock(&lock);
	open_ = 1;
	pthread_cond_broadcast(&go);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		finish(threads[i]);
	printf("%d\n", passed);
	return 0;
}
