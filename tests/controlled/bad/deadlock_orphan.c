/* A thread ends with a lock in its hand; whoever wants it next waits for ever.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *leave_early(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	if (done) {
		EQUAL(pthread_mutex_unlock(&mutex), 0);
		return none;
	}
	return none; /* forgets the mutex */
}

int main(void)
{
	pthread_t thread = start(leave_early, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	done = 1;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(thread);
	return 0;
}
