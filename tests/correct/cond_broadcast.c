/* A broadcast lets all go on that wait; a signal at least one; without waiters both are nothing. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, waiting = PTHREAD_COND_INITIALIZER;
static int waiters, open_gate, tickets, passed;

static void *wait_gate(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	waiters++;
	EQUAL(pthread_cond_signal(&waiting), 0);
	while (!open_gate)
		EQUAL(pthread_cond_wait(&go, &mutex), 0);
	passed++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

static void *wait_ticket(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	waiters++;
	EQUAL(pthread_cond_signal(&waiting), 0);
	while (tickets == 0)
		EQUAL(pthread_cond_wait(&go, &mutex), 0);
	tickets--;
	passed++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

/* All three wait when this returns, and the mutex is held. */
static void all_wait(pthread_t threads[3], void *(*routine)(void *))
{
	waiters = 0;
	for (int i = 0; i < 3; i++)
		threads[i] = start(routine, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	while (waiters < 3)
		EQUAL(pthread_cond_wait(&waiting, &mutex), 0);
}

int main(void)
{
	pthread_t threads[3];
	EQUAL(pthread_cond_signal(&go), 0);
	EQUAL(pthread_cond_broadcast(&go), 0);
	all_wait(threads, wait_gate);
	open_gate = 1;
	EQUAL(pthread_cond_broadcast(&go), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	for (int i = 0; i < 3; i++)
		finish(threads[i]);
	all_wait(threads, wait_ticket);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	for (int i = 0; i < 3; i++) {
		EQUAL(pthread_mutex_lock(&mutex), 0);
		tickets++;
		EQUAL(pthread_mutex_unlock(&mutex), 0);
		EQUAL(pthread_cond_signal(&go), 0); /* not under the mutex */
	}
	for (int i = 0; i < 3; i++)
		finish(threads[i]);
	printf("%d\n", passed);
	return 0;
}
