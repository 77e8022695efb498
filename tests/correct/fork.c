/* A child of a program with threads: its one thread works, the parent's go on.
 * uncontrolled: fork */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void before(void)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
}

static void after(void)
{
	EQUAL(pthread_mutex_unlock(&mutex), 0);
}

static void *count(void *none)
{
	for (int i = 0; i < 3; i++) {
		EQUAL(pthread_mutex_lock(&mutex), 0);
		total++;
		EQUAL(pthread_mutex_unlock(&mutex), 0);
	}
	return none;
}

int main(void)
{
	int status, ends[2];
	char byte = 0;
	EQUAL(pthread_atfork(before, after, after), 0);
	EQUAL(pipe(ends), 0);
	pthread_t a = start(count, NULL);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		count(NULL); /* the handlers have left the mutex free */
		EQUAL(write(ends[1], "c", 1), 1);
		_exit(7);
	}
	EQUAL(read(ends[0], &byte, 1), 1);
	EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	finish(a);
	printf("%d %c\n", total, byte);
	return 0;
}
