/* Cancelled threads, deferred and asynchronous, leave no lock behind.
 * run: -> 0
 * pair: waiting > seen
 * pair: spinning > seen2
 * pair: cleanup > cleaned
 * may drop
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int value, started, cleanups, cycles[64];
static volatile char bytes[64];

static void clean(void *argument)
{
	(void)argument;
	cleanups++; /* @cleanup */
}

static void *deferred(void *argument)
{
	pthread_cleanup_push(clean, NULL);
	value++; /* @waiting */
	for (;;)
		sleep(10);
	pthread_cleanup_pop(0);
	return argument;
}

static void *asynchronous(void *argument)
{
	int old;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	started = 1; /* @spinning */
	for (unsigned i = 0;; i++) {
		bytes[i % 64]++;
		cycles[i % 64]++;
	}
	return argument;
}

static void *reading(void *argument)
{
	int sum = 0;
	for (int i = 0; i < 64; i++)
		sum += bytes[i] + cycles[i];
	return sum == -1 ? NULL : argument;
}

int main(void)
{
	pthread_t thread, reader;
	void *result;
	int cancelled = 0, seen = 0;
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, deferred, NULL);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		cancelled += result == PTHREAD_CANCELED;
		seen += value; /* @seen */
	}
	int cleaned = cleanups; /* @cleaned */
	for (int i = 0; i < 100; i++) {
		started = 0;
		pthread_create(&thread, NULL, asynchronous, NULL);
		while (!started) /* @seen2 */
			;
		pthread_create(&reader, NULL, reading, NULL);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		cancelled += result == PTHREAD_CANCELED;
		pthread_join(reader, NULL);
	}
	pthread_create(&reader, NULL, reading, NULL);
	pthread_join(reader, NULL);
	printf("%d %d\n", cancelled, cleaned == value && seen > 0);
	return 0;
}
