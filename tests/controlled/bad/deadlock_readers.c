/* Two threads read, and the one that came last leaves first; the other one wants a
 * mutex then, whose holder wants to write.
 * expect: deadlock */
#include <semaphore.h>

#include "../../correct/check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t first_reads, second_left;

static void *first_reader(void *none)
{
	EQUAL(pthread_rwlock_rdlock(&lock), 0);
	EQUAL(sem_post(&first_reads), 0);
	EQUAL(sem_wait(&second_left), 0);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	return none;
}

static void *second_reader(void *none)
{
	EQUAL(sem_wait(&first_reads), 0);
	EQUAL(pthread_rwlock_rdlock(&lock), 0);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(sem_post(&second_left), 0);
	return none;
}

int main(void)
{
	EQUAL(sem_init(&first_reads, 0, 0), 0);
	EQUAL(sem_init(&second_left, 0, 0), 0);
	pthread_t first = start(first_reader, NULL), second = start(second_reader, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_rwlock_wrlock(&lock), 0);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(first);
	finish(second);
	return 0;
}
