/* On which processors the program may run is what it would be without anybody looking, and what it sets.
 * may be named: process numbers */
#include "check.h"

#include <sched.h>
#include <unistd.h>

static cpu_set_t usual;

static void *asker(void *none)
{
	cpu_set_t mine;
	EQUAL(pthread_getaffinity_np(pthread_self(), sizeof mine, &mine), 0);
	CHECK(CPU_EQUAL(&mine, &usual));
	CHECK(CPU_ISSET(sched_getcpu(), &usual));
	return none;
}

static void *chooser(void *none)
{
	cpu_set_t one, got;
	int last = 0;
	for (int i = 0; i < CPU_SETSIZE; i++)
		last = CPU_ISSET(i, &usual) ? i : last;
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
	EQUAL(sched_getcpu(), last);
	EQUAL(pthread_getaffinity_np(pthread_self(), sizeof got, &got), 0);
	CHECK(CPU_EQUAL(&one, &got));
	return none;
}

int main(void)
{
	EQUAL(sched_getaffinity(0, sizeof usual, &usual), 0);
	printf("%d\n", CPU_COUNT(&usual));
	pthread_t a = start(asker, NULL), b = start(chooser, NULL), c = start(asker, NULL);
	finish(a), finish(b), finish(c);
	cpu_set_t mine;
	EQUAL(sched_getaffinity(getpid(), sizeof mine, &mine), 0);
	CHECK(CPU_EQUAL(&mine, &usual));
	return 0;
}
