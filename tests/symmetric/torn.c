/* Many threads that run the same code, and one that does not: the clerks book into two sums under a mutex,
 * the auditor compares the sums without it. One switch is enough: a clerk between its two writes, then the
 * auditor to its end. The number of clerks is the argument. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static long in, out, seen;

static void *clerk(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&books);
		in += 1;
		out += 1;
		pthread_mutex_unlock(&books);
	}
	return unused;
}

static void *auditor(void *unused)
{
	long first = in, second = out;
	if (first != second)
		abort();
	__atomic_store_n(&seen, first, __ATOMIC_RELAXED);
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t *threads = calloc((size_t)n + 1, sizeof *threads);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, clerk, NULL);
	pthread_create(&threads[n], NULL, auditor, NULL);
	for (int i = 0; i <= n; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", in);
	free(threads);
	return 0;
}
