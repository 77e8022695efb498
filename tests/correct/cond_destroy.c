/* A condition may be destroyed as soon as all its waiters have been woken, and its memory used again. */
#include "check.h"

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	int open, inside;
};

static void *enter(void *argument)
{
	struct gate *gate = argument;
	EQUAL(pthread_mutex_lock(&gate->mutex), 0);
	while (!gate->open)
		EQUAL(pthread_cond_wait(&gate->condition, &gate->mutex), 0);
	gate->inside++;
	EQUAL(pthread_mutex_unlock(&gate->mutex), 0);
	return NULL;
}

int main(void)
{
	int inside = 0;
	for (int round = 0; round < 2; round++) {
		struct gate *gate = calloc(1, sizeof *gate);
		EQUAL(pthread_mutex_init(&gate->mutex, NULL), 0);
		EQUAL(pthread_cond_init(&gate->condition, NULL), 0);
		pthread_t a = start(enter, gate), b = start(enter, gate);
		EQUAL(pthread_mutex_lock(&gate->mutex), 0);
		gate->open = 1;
		EQUAL(pthread_cond_broadcast(&gate->condition), 0);
		EQUAL(pthread_mutex_unlock(&gate->mutex), 0);
		EQUAL(pthread_cond_destroy(&gate->condition), 0); /* waits for those on their way out */
		finish(a);
		finish(b);
		EQUAL(pthread_mutex_destroy(&gate->mutex), 0);
		inside += gate->inside;
		free(gate);
	}
	printf("%d\n", inside);
	return 0;
}
