/* Threads are sent a signal as soon as they are made: its handler runs once in each, whatever the thread has come
 * to: its beginning, a lock that another one holds while it answers, a wait. */
#include "check.h"

#include <semaphore.h>
#include <signal.h>

#define THREADS 4

static sem_t answered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread volatile sig_atomic_t mine;
static int stop;

static void on_signal(int number)
{
	(void)number;
	mine++;
	sem_post(&answered);
}

static void *worker(void *none)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	EQUAL(mine, 1);
	return none;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sem_init(&answered, 0, 0);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		threads[i] = start(worker, NULL);
		EQUAL(pthread_kill(threads[i], SIGUSR1), 0);
	}
	pthread_mutex_lock(&lock); /* whoever waits for it answers all the same */
	for (int i = 0; i < THREADS; i++)
		while (sem_wait(&answered))
			EQUAL(errno, EINTR);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		finish(threads[i]);
	printf("answered\n");
	return 0;
}
