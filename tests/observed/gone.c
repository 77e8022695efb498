/* Members of a structure that threads wrote whose slots were given away since:
 * whoever reads them meets threads that are gone, not those that came after.
 * run: -> 0
 * pair: first > late
 * pair: second > late
 * gone: first
 * gone: second
 */
#include <pthread.h>
#include <stdio.h>

static struct {
	volatile char first, second;
	volatile short third;
} state;
static volatile long count;

static void *write_first(void *unused)
{
	state.first = 1; /* @first */
	return unused;
}

static void *write_second(void *unused)
{
	state.second = 2; /* @second */
	return unused;
}

static void *pass(void *unused)
{
	count++;
	return unused;
}

static void run(void *(*routine)(void *))
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, routine, NULL) == 0)
		pthread_join(thread, NULL);
}

int main(void)
{
	run(write_first);
	run(write_second);
	for (int i = 0; i < 2500; i++)
		run(pass);
	printf("%d %ld\n", state.first + state.second, count); /* @late */
	return 0;
}
