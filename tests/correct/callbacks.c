/* Synchronisation inside callbacks of the C library, and standard output under its own lock. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long comparisons;

static int compare(const void *a, const void *b)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	comparisons++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return *(const int *)a - *(const int *)b;
}

static void *sort(void *none)
{
	int numbers[] = { 4, 1, 3, 5, 2 }, five = 5;
	qsort(numbers, 5, sizeof *numbers, compare);
	for (int i = 0; i < 5; i++)
		EQUAL(numbers[i], i + 1);
	CHECK(bsearch(&five, numbers, 5, sizeof *numbers, compare) == &numbers[4]);
	flockfile(stdout);
	printf("sor");
	printf("ted\n");
	funlockfile(stdout);
	return none;
}

int main(void)
{
	pthread_t a = start(sort, NULL), b = start(sort, NULL);
	sort(NULL);
	finish(a);
	finish(b);
	CHECK(comparisons > 15);
	return 0;
}
