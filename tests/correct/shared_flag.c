/* A thread spins on a flag in shared memory that the child sets.
 * uncontrolled: fork */
#include "check.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int *flag;

static void *spinner(void *none)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		sched_yield();
	return none;
}

int main(void)
{
	flag = mmap(NULL, sizeof *flag, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(flag != MAP_FAILED);
	pid_t child = fork();
	if (child == 0) {
		usleep(20000);
		__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
		_exit(0);
	}
	finish(start(spinner, NULL));
	EQUAL(waitpid(child, NULL, 0), child);
	printf("set\n");
	return 0;
}
