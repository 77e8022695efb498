/* A semaphore in shared memory: the child posts what two threads wait for.
 * uncontrolled: fork */
#include "check.h"

#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t *shared;

static void *waiter(void *none)
{
	while (sem_wait(shared) != 0)
		EQUAL(errno, EINTR);
	return none;
}

int main(void)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	EQUAL(sem_init(shared, 1, 0), 0);
	pid_t child = fork();
	if (child == 0) {
		usleep(1000);
		_exit(sem_post(shared) != 0 || sem_post(shared) != 0);
	}
	pthread_t a = start(waiter, NULL), b = start(waiter, NULL);
	finish(a);
	finish(b);
	int status = 1;
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	printf("both\n");
	return 0;
}
