/* Affinity, priorities, names, stack limits and processor time of threads are what the program sets and asks. */
#include "check.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <unistd.h>

static void *worker(void *none)
{
	cpu_set_t set, got;
	CPU_ZERO(&set);
	EQUAL(sched_getaffinity(0, sizeof got, &got), 0);
	EQUAL(pthread_setaffinity_np(pthread_self(), sizeof got, &got), 0);
	char name[16];
	EQUAL(pthread_setname_np(pthread_self(), "worker"), 0);
	EQUAL(pthread_getname_np(pthread_self(), name, sizeof name), 0);
	EQUAL(strcmp(name, "worker"), 0);
	pthread_attr_t attributes;
	void *stack;
	size_t size;
	EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
	EQUAL(pthread_attr_getstack(&attributes, &stack, &size), 0);
	CHECK((char *)&size > (char *)stack && (char *)&size < (char *)stack + size);
	pthread_attr_destroy(&attributes);
	clockid_t clock;
	EQUAL(pthread_getcpuclockid(pthread_self(), &clock), 0);
	struct timespec t, u;
	EQUAL(clock_gettime(clock, &t), 0);
	for (volatile int i = 0; i < 1000; i++)
		;
	EQUAL(clock_gettime(clock, &u), 0);
	CHECK(u.tv_sec > t.tv_sec || (u.tv_sec == t.tv_sec && u.tv_nsec >= t.tv_nsec));
	struct rusage usage;
	EQUAL(getrusage(RUSAGE_THREAD, &usage), 0);
	CHECK(sched_getcpu() >= 0);
	return none;
}

int main(void)
{
	struct rlimit limit;
	struct tms tms;
	EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK(limit.rlim_cur > 16);
	clock_t a = clock();
	pthread_t x = start(worker, NULL), y = start(worker, NULL);
	finish(x), finish(y);
	CHECK(clock() >= a);
	CHECK(times(&tms) != (clock_t)-1);
	printf("as set\n");
	return 0;
}
