/* Many threads that run the same code, and one that does not. Whoever comes first announces a table and then
 * fills it in; the reader, made last, believes the announcement, unless a second user has come. One switch is
 * enough, in the first user before it fills in, but then it has to be the reader who goes on, and before that
 * nobody else may have begun. The number of users is the argument. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int users, announced, filled;

static void *user(void *unused)
{
	if (atomic_fetch_add(&users, 1) == 0) {
		atomic_store(&announced, 1);
		atomic_store(&filled, 1);
	}
	return unused;
}

static void *reader(void *unused)
{
	if (atomic_load(&announced) && !atomic_load(&filled) && atomic_load(&users) == 1)
		abort();
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t *threads = calloc((size_t)n + 1, sizeof *threads);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, user, NULL);
	pthread_create(&threads[n], NULL, reader, NULL);
	for (int i = 0; i <= n; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", users);
	free(threads);
	return 0;
}
