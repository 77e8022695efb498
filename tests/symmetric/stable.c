/* Many threads that run the same code, and one that does not. All begin together, behind a barrier. Clerks book
 * into two sums, each by one atomic step; the auditor reads both sums twice and trusts what stands still. One
 * switch is enough, in any clerk between its two steps, but then it has to be the auditor who goes on, for four
 * accesses. The number of clerks is the argument. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t gate;
static atomic_int in, out;

static void *clerk(void *unused)
{
	pthread_barrier_wait(&gate);
	atomic_fetch_add(&in, 1);
	atomic_fetch_add(&out, 1);
	return unused;
}

static void *auditor(void *unused)
{
	pthread_barrier_wait(&gate);
	int first_in = atomic_load(&in), first_out = atomic_load(&out);
	int second_in = atomic_load(&in), second_out = atomic_load(&out);
	if (first_in == second_in && first_out == second_out && first_in == first_out + 1)
		abort();
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t *threads = calloc((size_t)n + 1, sizeof *threads);
	pthread_barrier_init(&gate, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, clerk, NULL);
	pthread_create(&threads[n], NULL, auditor, NULL);
	for (int i = 0; i <= n; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", in);
	free(threads);
	return 0;
}
