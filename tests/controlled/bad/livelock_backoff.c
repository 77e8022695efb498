/* Takes one lock, tries the other and backs off; by mistake both are the same one.
 * expect: livelock */
#include "../../correct/check.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	for (;;) {
		EQUAL(pthread_mutex_lock(first), 0);
		int code = pthread_mutex_trylock(second);
		if (code == 0 && first != second)
			break;
		EQUAL(code, EBUSY);
		EQUAL(pthread_mutex_unlock(first), 0);
	}
	EQUAL(pthread_mutex_unlock(second), 0);
	EQUAL(pthread_mutex_unlock(first), 0);
}

static void *backward(void *none)
{
	both(&b, &b);
	return none;
}

int main(void)
{
	pthread_t thread = start(backward, NULL);
	both(&a, &b);
	finish(thread);
	return 0;
}
