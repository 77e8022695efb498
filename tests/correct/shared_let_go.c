/* A child gives back what the parent's threads wait for and ends at once: they go on, however late they look.
 * uncontrolled: fork */
#include "check.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	pthread_rwlock_t book;
} *shared;

static void *locker(void *none)
{
	EQUAL(pthread_mutex_lock(&shared->lock), 0);
	EQUAL(pthread_mutex_unlock(&shared->lock), 0);
	return none;
}

static void *reader(void *none)
{
	EQUAL(pthread_rwlock_rdlock(&shared->book), 0);
	EQUAL(pthread_rwlock_unlock(&shared->book), 0);
	return none;
}

static void prepare(void)
{
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t rwlock;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	pthread_mutexattr_init(&mutex);
	EQUAL(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_mutex_init(&shared->lock, &mutex), 0);
	pthread_rwlockattr_init(&rwlock);
	EQUAL(pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_rwlock_init(&shared->book, &rwlock), 0);
}

/* Has both locks when the pipe has a byte, and gives back one after the other. */
static void child(int ready)
{
	EQUAL(pthread_mutex_lock(&shared->lock), 0);
	EQUAL(pthread_rwlock_wrlock(&shared->book), 0);
	CHECK(write(ready, "", 1) == 1);
	for (volatile int i = 0; i < 20000; i++)
		;
	EQUAL(pthread_mutex_unlock(&shared->lock), 0);
	EQUAL(pthread_rwlock_unlock(&shared->book), 0);
	_exit(0);
}

int main(void)
{
	int ends[2];
	char byte;
	prepare();
	CHECK(pipe(ends) == 0);
	pid_t other = fork();
	if (other == 0)
		child(ends[1]);
	CHECK(read(ends[0], &byte, 1) == 1);
	pthread_t a = start(locker, NULL), b = start(reader, NULL);
	finish(a);
	finish(b);
	EQUAL(waitpid(other, NULL, 0), other);
	puts("all let go");
	return 0;
}
