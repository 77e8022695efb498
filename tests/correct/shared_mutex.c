/* A mutex that processes share: child and threads count under it.
 * uncontrolled: fork */
#include "check.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	int count;
} *shared;

static void *counter(void *none)
{
	for (int i = 0; i < 20; i++) {
		EQUAL(pthread_mutex_lock(&shared->lock), 0);
		shared->count++;
		EQUAL(pthread_mutex_unlock(&shared->lock), 0);
	}
	return none;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	pthread_mutexattr_init(&attributes);
	EQUAL(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_mutex_init(&shared->lock, &attributes), 0);
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(&shared->lock);
		usleep(1000);
		pthread_mutex_unlock(&shared->lock);
		counter(NULL);
		_exit(0);
	}
	pthread_t a = start(counter, NULL), b = start(counter, NULL);
	finish(a);
	finish(b);
	EQUAL(waitpid(child, NULL, 0), child);
	printf("%d\n", shared->count);
	return 0;
}
