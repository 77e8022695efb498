/* Once is once, and whoever comes later waits until it is done; inside, another once may run. */
#include "check.h"

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int outer_runs, inner_runs, complete;

static void initialise_inner(void)
{
	inner_runs++;
}

static void initialise_outer(void)
{
	outer_runs++;
	EQUAL(pthread_once(&inner, initialise_inner), 0);
	complete = 1;
}

static void *use(void *none)
{
	EQUAL(pthread_once(&outer, initialise_outer), 0);
	EQUAL(complete, 1);
	EQUAL(pthread_once(&inner, initialise_inner), 0);
	return none;
}

int main(void)
{
	pthread_t threads[] = { start(use, NULL), start(use, NULL), start(use, NULL) };
	use(NULL);
	for (int i = 0; i < 3; i++)
		finish(threads[i]);
	printf("%d %d\n", outer_runs, inner_runs);
	return 0;
}
