/* Signal handlers that touch shared data, also while their thread is inside
 * the runtime, and timers that fire all the time.
 * run: -> 0
 * pair: handler > waits
 * pair: asked > handler
 * may drop
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int request, answer, looked, ticks, stop;
static volatile char bytes[256];
static volatile long words[64];

static void on_request(int number)
{
	(void)number;
	answer = request + 1; /* @handler */
}

static void on_tick(int number)
{
	(void)number;
	__atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED); /* handlers of two threads may be at it at once */
	for (int i = 0; i < 8; i++)
		bytes[i * 31 % 256]++;
	words[ticks % 64]++;
}

static void *hot(void *argument)
{
	for (unsigned i = 0; !stop; i++) {
		bytes[i % 256]++;
		words[i % 64] = (long)i;
	}
	return argument;
}

static void *asked_thread(void *argument)
{
	while (answer == 0)
		looked++;
	return argument;
}

int main(void)
{
	pthread_t threads[2], asked;
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	signal(SIGUSR1, on_request);
	signal(SIGALRM, on_tick);
	pthread_create(&asked, NULL, asked_thread, NULL);
	while (looked < 1000) /* its first accesses are over: a handler inside of those goes unobserved */
		;
	request = 41; /* @asked */
	pthread_kill(asked, SIGUSR1);
	pthread_join(asked, NULL);
	int got = answer; /* @waits */
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, hot, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (ticks < 2000)
		words[ticks % 64]++;
	setitimer(ITIMER_REAL, &never, NULL);
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d\n", got, ticks >= 2000);
	return 0;
}
