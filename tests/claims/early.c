/* A thread that uses what main gives it only after it was made. Ends with 1 when it was
 * used too early. */
#include <pthread.h>

static int *volatile given;
static int there, failed;

static void *use(void *unused)
{
	failed = !given; /* use */
	return unused;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, use, NULL);
	given = &there; /* give */
	pthread_join(t, NULL);
	return failed;
}
