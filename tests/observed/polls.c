/* Threads that poll what they alone have touched so far, until another one writes it.
 * The write may come between the check and the store of a read: it keeps its order.
 * run: -> 0
 * pair: round > round
 * write orders: 8
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long flags[16];

#define ROUND(n)                                                      \
	static void *put##n(void *unused)                             \
	{                                                             \
		usleep(300);                                          \
		flags[n] = 1;                                         \
		return unused;                                        \
	}                                                             \
	static void get##n(void)                                      \
	{                                                             \
		pthread_t thread;                                     \
		while (flags[n] == 2)                                 \
			;                                             \
		if (pthread_create(&thread, NULL, put##n, NULL) != 0) \
			return;                                       \
		while (flags[n] != 1)                                 \
			;                                             \
		pthread_join(thread, NULL);                           \
	}

ROUND(0)  /* @round */
ROUND(1)  /* @round */
ROUND(2)  /* @round */
ROUND(3)  /* @round */
ROUND(4)  /* @round */
ROUND(5)  /* @round */
ROUND(6)  /* @round */
ROUND(7)  /* @round */
ROUND(8)  /* @round */
ROUND(9)  /* @round */
ROUND(10) /* @round */
ROUND(11) /* @round */
ROUND(12) /* @round */
ROUND(13) /* @round */
ROUND(14) /* @round */
ROUND(15) /* @round */

int main(void)
{
	void (*rounds[])(void) = { get0, get1, get2,  get3,  get4,  get5,  get6,  get7,
				   get8, get9, get10, get11, get12, get13, get14, get15 };
	for (int i = 0; i < 16; i++)
		rounds[i]();
	puts("done");
	return 0;
}
