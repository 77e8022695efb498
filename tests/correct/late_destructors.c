/* atexit handlers, destructors of keys and of the program that lock, allocate and signal when threads still are. */
#include "check.h"

#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int stop, ended;
static pthread_t thread;
static pthread_key_t key;

static void at_key(void *value)
{
	pthread_mutex_lock(&lock);
	ended++;
	pthread_mutex_unlock(&lock);
	free(value);
}

static void *worker(void *none)
{
	pthread_setspecific(key, malloc(10));
	pthread_mutex_lock(&lock);
	while (!stop)
		pthread_cond_wait(&wake, &lock);
	pthread_mutex_unlock(&lock);
	return none;
}

static void at_exit(void)
{
	pthread_mutex_lock(&lock);
	stop = 1;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&lock);
	finish(thread);
	printf("%d ended\n", ended);
}

__attribute__((destructor)) static void last(void)
{
	pthread_mutex_lock(&lock);
	ended++;
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void first(void)
{
	pthread_key_create(&key, at_key);
	thread = start(worker, NULL);
}

int main(void)
{
	atexit(at_exit);
	free(malloc(5));
	return 0;
}
