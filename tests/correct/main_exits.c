/* main leaves by pthread_exit: the process ends with its last thread, status 0. */
#include "check.h"

static pthread_t main_thread;

static void *last(void *none)
{
	void *value;
	EQUAL(pthread_join(main_thread, &value), 0);
	CHECK(value == &main_thread);
	puts("main has ended");
	fflush(stdout);
	return none;
}

static void say(void)
{
	puts("handlers run");
}

int main(void)
{
	EQUAL(atexit(say), 0);
	main_thread = pthread_self();
	start(last, NULL);
	pthread_exit(&main_thread);
}
