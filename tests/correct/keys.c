/* Thread-specific data: values per thread, destructors until none is left, at most so many rounds. */
#include "check.h"

#include <limits.h>

static pthread_key_t plain, stubborn, silent;
static int plain_runs, stubborn_runs;

static void destroy_plain(void *value)
{
	CHECK(pthread_getspecific(plain) == NULL);
	__atomic_add_fetch(&plain_runs, *(int *)value, __ATOMIC_SEQ_CST);
	free(value);
}

/* Puts its value back: called again in the next round. */
static void destroy_stubborn(void *value)
{
	__atomic_add_fetch(&stubborn_runs, 1, __ATOMIC_SEQ_CST);
	EQUAL(pthread_setspecific(stubborn, value), 0);
}

static void *use(void *argument)
{
	CHECK(pthread_getspecific(plain) == NULL);
	int *value = malloc(sizeof *value);
	*value = *(int *)argument;
	EQUAL(pthread_setspecific(plain, value), 0);
	EQUAL(pthread_setspecific(stubborn, argument), 0);
	EQUAL(pthread_setspecific(silent, argument), 0);
	EQUAL(*(int *)pthread_getspecific(plain), *(int *)argument);
	if (*(int *)argument == 10)
		pthread_exit(NULL);
	return NULL;
}

int main(void)
{
	int one = 1, ten = 10;
	EQUAL(pthread_key_create(&plain, destroy_plain), 0);
	EQUAL(pthread_key_create(&stubborn, destroy_stubborn), 0);
	EQUAL(pthread_key_create(&silent, NULL), 0);
	pthread_t a = start(use, &one), b = start(use, &ten);
	CHECK(pthread_getspecific(plain) == NULL);
	finish(a);
	finish(b);
	CHECK(stubborn_runs >= 2 && stubborn_runs <= 2 * PTHREAD_DESTRUCTOR_ITERATIONS);
	EQUAL(pthread_key_delete(silent), 0);
	EQUAL(pthread_setspecific(silent, &one), EINVAL);
	printf("%d\n", plain_runs);
	return 0;
}
