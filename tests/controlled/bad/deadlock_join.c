/* Three threads that join each other in a circle.
 * expect: deadlock */
#include "../../correct/check.h"

#include <semaphore.h>

static pthread_t threads[3];
static sem_t known;

static void *join_next(void *place)
{
	EQUAL(sem_wait(&known), 0);
	EQUAL(pthread_join(threads[(*(int *)place + 1) % 3], NULL), 0);
	return NULL;
}

int main(void)
{
	static int places[] = { 0, 1, 2 };
	EQUAL(sem_init(&known, 0, 0), 0);
	for (int i = 0; i < 3; i++)
		threads[i] = start(join_next, &places[i]);
	for (int i = 0; i < 3; i++)
		EQUAL(sem_post(&known), 0);
	pthread_exit(NULL);
}
