/* main returns while others wait, sleep, spin or hold locks: the process ends all the same. */
#include "check.h"

#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t started, never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static void *wait_for_ever(void *none)
{
	EQUAL(sem_post(&started), 0);
	sem_wait(&never);
	return none;
}

static void *hold(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(sem_post(&started), 0);
	sleep(1000);
	return none;
}

static void *lock(void *none)
{
	EQUAL(sem_post(&started), 0);
	pthread_mutex_lock(&mutex);
	return none;
}

static void *spin(void *none)
{
	EQUAL(sem_post(&started), 0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		sched_yield();
	return none;
}

int main(void)
{
	EQUAL(sem_init(&started, 0, 0), 0);
	EQUAL(sem_init(&never, 0, 0), 0);
	start(hold, NULL);
	EQUAL(sem_wait(&started), 0);
	start(wait_for_ever, NULL);
	start(lock, NULL);
	start(spin, NULL);
	for (int i = 0; i < 3; i++)
		EQUAL(sem_wait(&started), 0);
	puts("over");
	return 0;
}
