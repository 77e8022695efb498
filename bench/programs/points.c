/* Accesses and nothing else, for the cost of a controlled run: how often a thread adds
 * to a counter that is shared, or as often alone while the other one waits.
 *
 * points alone|both COUNT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static volatile long shared;
static long count;

static void *add(void *unused)
{
	for (long i = 0; i < count; i++)
		shared = shared + 1;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int both = argc > 1 && strcmp(argv[1], "both") == 0;

	count = argc > 2 ? atol(argv[2]) : 0;
	if (pthread_create(&thread, NULL, add, NULL) != 0)
		return 1;
	if (both)
		add(NULL);
	return pthread_join(thread, NULL) != 0;
}
