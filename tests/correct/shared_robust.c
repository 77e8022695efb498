/* A child dies with a robust mutex that a thread waits for.
 * uncontrolled: fork */
#include "check.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t *lock;
static int told[2];

static void *heir(void *none)
{
	EQUAL(pthread_mutex_lock(lock), EOWNERDEAD);
	EQUAL(pthread_mutex_consistent(lock), 0);
	EQUAL(pthread_mutex_unlock(lock), 0);
	return none;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	char byte = 0;
	lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attributes);
	EQUAL(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
	EQUAL(pthread_mutex_init(lock, &attributes), 0);
	EQUAL(pipe(told), 0);
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(lock);
		if (write(told[1], "x", 1) == 1)
			usleep(2000);
		_exit(0);
	}
	EQUAL(read(told[0], &byte, 1), 1);
	finish(start(heir, NULL));
	EQUAL(waitpid(child, NULL, 0), child);
	printf("inherited\n");
	return 0;
}
