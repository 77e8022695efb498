/* Accesses and nothing else, for the cost of a controlled run: how often a thread adds
 * to a counter that is shared, or as often alone while the other one, which adds once so
 * that order can matter there at all, waits.
 *
 * points alone|both COUNT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static volatile long shared;

static void *add(void *times)
{
	for (long i = 0; i < *(long *)times; i++)
		shared = shared + 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int both = argc > 1 && strcmp(argv[1], "both") == 0;

	long count = argc > 2 ? atol(argv[2]) : 0, once = 1;
	if (pthread_create(&thread, NULL, add, &count) != 0)
		return 1;
	add(both ? &count : &once);
	return pthread_join(thread, NULL) != 0;
}
