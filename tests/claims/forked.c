/* The child of a fork takes a lock that another thread may hold at that moment: in the child nobody gives it back. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void note(void)
{
	pthread_mutex_lock(&lock); /* taken */
	lines++;
	pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
	note();
	return argument;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pid_t child = fork(); /* fork */
	if (child == 0) {
		note();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	pthread_join(thread, NULL);
	return 0;
}
