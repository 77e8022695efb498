/* An alarm of 30 seconds that would end the program, set anew in each round and taken back at the end;
 * a second one by setitimer, a third by timer_create. */
#include "check.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_alarm(int number)
{
	(void)number;
	static const char text[] = "timed out\n";
	(void)!write(2, text, sizeof text - 1);
	_exit(9);
}

static void *worker(void *none)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
	}
	return none;
}

int main(void)
{
	struct itimerval wait = { .it_value.tv_sec = 30 }, none = { 0 };
	struct itimerspec spec = { .it_value.tv_sec = 30 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;
	signal(SIGALRM, on_alarm);
	signal(SIGUSR1, on_alarm);
	EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	EQUAL(timer_settime(timer, 0, &spec, NULL), 0);
	for (int round = 0; round < 2; round++) {
		if (round)
			EQUAL(setitimer(ITIMER_REAL, &wait, NULL), 0);
		else
			alarm(30);
		pthread_t a = start(worker, NULL), b = start(worker, NULL);
		finish(a), finish(b);
	}
	setitimer(ITIMER_REAL, &none, NULL);
	timer_delete(timer);
	printf("%d\n", total);
	return 0;
}
