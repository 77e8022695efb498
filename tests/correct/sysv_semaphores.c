/* System V semaphores between threads, and with a child: waited for in the kernel alone.
 * uncontrolled: fork */
#include "check.h"

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static int set;
static int total;

static void change(int which, int by)
{
	struct sembuf step = { .sem_num = (unsigned short)which, .sem_op = (short)by };
	while (semop(set, &step, 1))
		EQUAL(errno, EINTR);
}

static void *worker(void *none)
{
	for (int i = 0; i < 5; i++) {
		change(0, -1);
		total++;
		change(0, 1);
	}
	return none;
}

int main(void)
{
	set = semget(IPC_PRIVATE, 2, 0600);
	CHECK(set >= 0);
	change(0, 1);
	int memory = shmget(IPC_PRIVATE, 4096, 0600);
	CHECK(memory >= 0);
	int *shared = shmat(memory, NULL, 0);
	CHECK(shared != (void *)-1);
	shmctl(memory, IPC_RMID, NULL);
	pid_t child = fork();
	if (!child) {
		*shared = 42;
		change(1, 1);
		_exit(0);
	}
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	change(1, -1);
	EQUAL(*shared, 42);
	finish(a), finish(b);
	EQUAL(waitpid(child, NULL, 0), child);
	semctl(set, 0, IPC_RMID);
	printf("%d\n", total);
	return 0;
}
