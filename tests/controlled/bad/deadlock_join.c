/* Two threads that join each other.
 * expect: deadlock */
#include "../check.h"

#include <semaphore.h>

static pthread_t first, second;
static sem_t known;

static void *join_second(void *none)
{
	EQUAL(sem_wait(&known), 0);
	pthread_join(second, NULL);
	return none;
}

static void *join_first(void *none)
{
	EQUAL(sem_wait(&known), 0);
	pthread_join(first, NULL);
	return none;
}

int main(void)
{
	EQUAL(sem_init(&known, 0, 0), 0);
	first = start(join_second, NULL);
	second = start(join_first, NULL);
	EQUAL(sem_post(&known), 0);
	EQUAL(sem_post(&known), 0);
	pthread_exit(NULL);
}
