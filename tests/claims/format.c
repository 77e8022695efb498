/* A lost update of a number that is kept as text and read by snprintf, in two sections of one lock. The threads
 * work through the same places all the time, but they do not spin: whoever is held must not be let go. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char total[16] = "0";

static void *count(void *unused)
{
	for (int i = 0; i < 12; i++) {
		char copy[16];
		pthread_mutex_lock(&lock);
		snprintf(copy, sizeof copy, "%s", total); /* look */
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		snprintf(total, sizeof total, "%d", atoi(copy) + 1); /* change */
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return atoi(total) != 36;
}
