/* A barrier that a child comes to as well.
 * uncontrolled: fork */
#include "check.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	pthread_barrierattr_t attributes;
	pthread_barrier_t *barrier =
		mmap(NULL, sizeof *barrier, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&attributes);
	EQUAL(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_barrier_init(barrier, &attributes, 2), 0);
	pid_t child = fork();
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(barrier);
	if (child == 0)
		_exit(0);
	EQUAL(waitpid(child, NULL, 0), child);
	printf("three rounds\n");
	return 0;
}
