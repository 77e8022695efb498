/* Three at a round table, each takes the fork on the left first.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_mutex_t forks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				    PTHREAD_MUTEX_INITIALIZER };

static void *eat(void *place)
{
	int left = *(int *)place, right = (left + 1) % 3;
	EQUAL(pthread_mutex_lock(&forks[left]), 0);
	EQUAL(pthread_mutex_lock(&forks[right]), 0);
	EQUAL(pthread_mutex_unlock(&forks[right]), 0);
	EQUAL(pthread_mutex_unlock(&forks[left]), 0);
	return NULL;
}

int main(void)
{
	int places[] = { 0, 1, 2 };
	pthread_t a = start(eat, &places[0]), b = start(eat, &places[1]), c = start(eat, &places[2]);
	finish(a);
	finish(b);
	finish(c);
	return 0;
}
