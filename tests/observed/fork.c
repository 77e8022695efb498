/* Threads of a parent and of its children are all observed.
 * run: -> 0
 * pair: parent > joined
 * pair: child > joined2
 * pair: before > inherited
 * processes: 3
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int value, old;

static void *in_parent(void *argument)
{
	value = 1; /* @parent */
	return argument;
}

static void *in_child(void *argument)
{
	value = 2; /* @child */
	return argument;
}

static void *before_fork(void *argument)
{
	old = 3; /* @before */
	return argument;
}

static int child(void)
{
	pthread_t thread;
	int sum = old; /* @inherited */
	pthread_create(&thread, NULL, in_child, NULL);
	pthread_join(thread, NULL);
	sum += value; /* @joined2 */
	return sum;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, before_fork, NULL);
	pthread_join(thread, NULL);
	int statuses[2];
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(child());
		waitpid(pid, &statuses[i], 0);
	}
	pthread_create(&thread, NULL, in_parent, NULL);
	pthread_join(thread, NULL);
	printf("%d %d %d\n", WEXITSTATUS(statuses[0]), WEXITSTATUS(statuses[1]), value); /* @joined */
	return 0;
}
