/* Two semaphores used as locks, taken in opposite order.
 * expect: deadlock */
#include "../../correct/check.h"

#include <semaphore.h>

static sem_t a, b;

static void *backward(void *none)
{
	EQUAL(sem_wait(&b), 0);
	EQUAL(sem_wait(&a), 0);
	EQUAL(sem_post(&a), 0);
	EQUAL(sem_post(&b), 0);
	return none;
}

int main(void)
{
	EQUAL(sem_init(&a, 0, 1), 0);
	EQUAL(sem_init(&b, 0, 1), 0);
	pthread_t thread = start(backward, NULL);
	EQUAL(sem_wait(&a), 0);
	EQUAL(sem_wait(&b), 0);
	EQUAL(sem_post(&b), 0);
	EQUAL(sem_post(&a), 0);
	finish(thread);
	return 0;
}
