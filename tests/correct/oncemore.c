/* A routine that runs once is left by the end of its thread, and by cancellation: the next caller runs it again. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, other = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int tries, done, others, nested;

static void routine(void)
{
	if (++tries == 1)
		pthread_exit(NULL);
	done++;
}

static void nested_routine(void)
{
	nested++;
}

static void other_routine(void)
{
	pthread_once(&inner, nested_routine);
	if (++others == 1)
		for (;;)
			pause();
}

static void *caller(void *nothing)
{
	pthread_once(&once, routine);
	return nothing;
}

static void *other_caller(void *nothing)
{
	pthread_once(&other, other_routine);
	return nothing;
}

int main(void)
{
	pthread_t threads[3], first, second;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, caller, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_create(&first, NULL, other_caller, NULL);
	pthread_cancel(first);
	pthread_create(&second, NULL, other_caller, NULL);
	pthread_cancel(second);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("%d %d %d\n", tries, done, nested);
	return tries != 2 || done != 1 || nested > 1;
}
