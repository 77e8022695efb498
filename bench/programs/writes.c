/* A small program of two threads that writes a file, as most do: what a private view of its
 * folder costs is measured on it. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		count++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	FILE *out = fopen("writes.out", "w");

	pthread_create(&thread, NULL, add, NULL);
	add(NULL);
	pthread_join(thread, NULL);
	if (!out)
		return 1;
	fprintf(out, "%d\n", count);
	return fclose(out) != 0;
}
