/* Forks while other threads are in the middle of the runtime: the children
 * must neither wait for locks of threads they do not have nor lose their own.
 * run: -> 0
 * pair: add > sum
 * processes: 31
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 30

static volatile char bytes[4096];
static volatile long words[512];
static volatile int stop, child_value;

static void *hot(void *argument)
{
	for (unsigned i = (unsigned)(size_t)argument; !stop; i++) {
		bytes[i % 4096]++;
		words[i * 7 % 512]++;
	}
	return NULL;
}

static void *in_child(void *argument)
{
	child_value++; /* @add */
	for (int i = 0; i < 4096; i++)
		bytes[i] = 1;
	return argument;
}

static int child(void)
{
	pthread_t thread;
	int sum = 0;
	for (int i = 0; i < 4096; i++)
		sum += bytes[i] != 0;
	pthread_create(&thread, NULL, in_child, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 4096; i++)
		sum += bytes[i] == 1;
	return sum >= 4096 && child_value == 1 ? 11 : 12; /* @sum */
}

int main(void)
{
	pthread_t threads[3];
	int good = 0;
	for (size_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, hot, (void *)(i * 100));
	for (int i = 0; i < FORKS; i++) {
		int status = 0;
		pid_t pid = fork();
		if (pid == 0)
			_exit(child());
		waitpid(pid, &status, 0);
		good += WIFEXITED(status) && WEXITSTATUS(status) == 11;
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", good);
	return 0;
}
