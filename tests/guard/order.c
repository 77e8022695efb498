/* A value that one thread prepares and the other uses. "right": the user waits until it is
 * there. "wrong": it only waits until the maker is about to begin, so that it comes first
 * unless somebody holds it. The hand-over is by futex-free flags, which are no data. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static struct {
	long value;
} shared;

static _Atomic int about_to_use, made;
static int wrong;

static void *make(void *unused)
{
	(void)unused;
	/* In the wrong order the maker is late: it waits for the user, but not for ever. */
	for (long i = 0; wrong && !about_to_use && i < 1000000000; i++)
		;
	for (volatile int i = 0; wrong && i < 2000000; i++)
		;
	shared.value = 42;
	made = 1;
	return NULL;
}

static void *use(void *result)
{
	while (!wrong && !made)
		;
	about_to_use = 1;
	*(long *)result = shared.value;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t maker, user;
	long result = 0;

	wrong = argc > 1 && strcmp(argv[1], "wrong") == 0;
	pthread_create(&user, NULL, use, &result);
	pthread_create(&maker, NULL, make, NULL);
	pthread_join(maker, NULL);
	pthread_join(user, NULL);
	printf("%ld\n", result);
	return result == 42 ? 0 : 1;
}
