/* A child answers over a pipe while threads of the parent wait for each other.
 * uncontrolled: fork */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int question[2], answer[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int result;

static void *reader(void *none)
{
	int value = 0;
	EQUAL(read(answer[0], &value, sizeof value), sizeof value);
	pthread_mutex_lock(&lock);
	result = value;
	pthread_cond_signal(&change);
	pthread_mutex_unlock(&lock);
	return none;
}

int main(void)
{
	EQUAL(pipe(question), 0);
	EQUAL(pipe(answer), 0);
	pid_t child = fork();
	if (child == 0) {
		int value = 0;
		if (read(question[0], &value, sizeof value) != sizeof value)
			_exit(1);
		value *= 2;
		_exit(write(answer[1], &value, sizeof value) != sizeof value);
	}
	pthread_t thread = start(reader, NULL);
	int value = 21, status = 0;
	EQUAL(write(question[1], &value, sizeof value), sizeof value);
	pthread_mutex_lock(&lock);
	while (!result)
		pthread_cond_wait(&change, &lock);
	pthread_mutex_unlock(&lock);
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	finish(thread);
	printf("%d\n", result);
	return 0;
}
