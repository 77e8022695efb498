/* A program of many threads forks with pthread_atfork handlers; the child takes the locks, makes threads of
 * its own and tells its result by its status.
 * uncontrolled: fork */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, stop;

static void before(void)
{
	pthread_mutex_lock(&lock);
}
static void after(void)
{
	pthread_mutex_unlock(&lock);
}

static void *worker(void *none)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
		free(malloc(100));
		usleep(100);
	}
	return none;
}

static void *child_worker(void *sum)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		++*(int *)sum;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	EQUAL(pthread_atfork(before, after, after), 0);
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();
		if (!child) {
			int sum = 0;
			pthread_t x = start(child_worker, &sum), y = start(child_worker, &sum);
			finish(x), finish(y);
			char *p = malloc(1000);
			free(p);
			_exit(sum);
		}
		int status;
		EQUAL(waitpid(child, &status, 0), child);
		CHECK(WIFEXITED(status));
		EQUAL(WEXITSTATUS(status), 20);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	finish(a), finish(b);
	printf("20\n");
	return 0;
}
