/* A thread that uses what main gives it only after it was made: without anything, or both under
 * one lock, which says nothing of who comes first. Ends with 1 when it was used too early. */
#include <pthread.h>

static int *volatile given;
static int there, failed, locked;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *unused)
{
	if (locked)
		pthread_mutex_lock(&mutex); /* door */
	failed = !given; /* use */
	if (locked)
		pthread_mutex_unlock(&mutex);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	locked = argc > 1;
	pthread_create(&t, NULL, use, NULL);
	if (locked)
		pthread_mutex_lock(&mutex); /* door of the giver */
	given = &there; /* give */
	if (locked)
		pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
	return failed;
}
