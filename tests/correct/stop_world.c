/* A collector stops the world: each thread is sent a signal, answers from its handler and waits there with
 * sigsuspend until it is let go, as garbage collectors do. */
#include "check.h"

#include <semaphore.h>
#include <signal.h>

#define THREADS 3

static sem_t stopped;
static volatile sig_atomic_t go[THREADS];
static __thread int mine;
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;

static void on_stop(int number)
{
	(void)number;
	int kept = errno;
	sigset_t mask;
	sigfillset(&mask);
	sigdelset(&mask, SIGUSR2);
	sem_post(&stopped);
	while (!go[mine])
		sigsuspend(&mask);
	sem_post(&stopped);
	errno = kept;
}

static void on_go(int number)
{
	(void)number;
}

static void *mutator(void *argument)
{
	mine = (int)(long)argument;
	pthread_barrier_wait(&begun);
	while (!go[mine]) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct sigaction action = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
	sigfillset(&action.sa_mask);
	sem_init(&stopped, 0, 0);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	action.sa_handler = on_go;
	EQUAL(sigaction(SIGUSR2, &action, NULL), 0);
	pthread_barrier_init(&begun, NULL, THREADS + 1);
	for (long i = 0; i < THREADS; i++)
		threads[i] = start(mutator, (void *)i);
	pthread_barrier_wait(&begun);
	for (int i = 0; i < THREADS; i++)
		EQUAL(pthread_kill(threads[i], SIGUSR1), 0);
	for (int i = 0; i < THREADS; i++)
		while (sem_wait(&stopped))
			EQUAL(errno, EINTR);
	int seen = total;
	for (int i = 0; i < 100; i++)
		EQUAL(__atomic_load_n(&total, __ATOMIC_RELAXED), seen);
	for (int i = 0; i < THREADS; i++) {
		go[i] = 1;
		EQUAL(pthread_kill(threads[i], SIGUSR2), 0);
	}
	for (int i = 0; i < THREADS; i++)
		while (sem_wait(&stopped))
			EQUAL(errno, EINTR);
	for (int i = 0; i < THREADS; i++)
		finish(threads[i]);
	printf("stopped and gone on\n");
	return 0;
}
