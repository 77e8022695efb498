/* An order that the program itself fixes: the other thread's write always comes between
 * main's two accesses, since main joins it. Nobody can forbid that, and nothing may hang. */
#include <pthread.h>

static volatile int x;

static void *change(void *unused)
{
	x = 2; /* other */
	return unused;
}

int main(void)
{
	pthread_t t;
	x = 1; /* before */
	pthread_create(&t, NULL, change, NULL);
	pthread_join(t, NULL);
	return x != 2; /* after */
}
