/* Programs that change what surrounds them: descriptors, environment, folder,
 * limits, standard streams. What is observed does not depend on it.
 * run: -> 0
 * pair: put > get
 * pair: put2 > get2
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int early, late;

static void *before(void *argument)
{
	early = 1; /* @put */
	return argument;
}

static void *after(void *argument)
{
	late = 2; /* @put2 */
	return argument;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, before, NULL);
	pthread_join(thread, NULL);
	int sum = early; /* @get */
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	clearenv();
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){8, 8});
	if (chdir("/") != 0)
		return 3;
	int first = open("/dev/null", O_RDWR);
	pthread_create(&thread, NULL, after, NULL);
	pthread_join(thread, NULL);
	sum += late; /* @get2 */
	pid_t pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, after, NULL);
		pthread_join(thread, NULL);
		_exit(late);
	}
	int status;
	waitpid(pid, &status, 0);
	printf("%d %d %d\n", sum, first, WEXITSTATUS(status));
	return 0;
}
