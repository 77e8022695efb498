/* A thread shows a thing to another before it is ready. Ends with 1, at once, when the other
 * uses it too early. */
#include <pthread.h>
#include <unistd.h>

static volatile int shown, ready;

static void *show(void *unused)
{
	shown = 1; /* show */
	ready = 1; /* finish */
	return unused;
}

static void *use(void *unused)
{
	if (shown && /* look */
	    !ready)  /* use */
		_exit(1);
	return unused;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, show, NULL);
	pthread_create(&b, NULL, use, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
