/* Children of forks while other threads hold locks, all of them right: one lock is taken before each fork and given
 * back behind it on both sides, another is made anew in the child, a third one the child only tries, and does without;
 * one child takes none and executes something else. A lock in shared memory is given back by the parent.
 * uncontrolled: fork */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t handled = PTHREAD_MUTEX_INITIALIZER, renewed = PTHREAD_MUTEX_INITIALIZER,
		       tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *shared;
static int count;

static void prepare(void)
{
	pthread_mutex_lock(&handled);
}

static void behind(void)
{
	pthread_mutex_unlock(&handled);
}

static void *work(void *argument)
{
	pthread_mutex_t *all[] = { &handled, &renewed, &tried, shared };

	for (int i = 0; i < 8; i++) {
		pthread_mutex_lock(all[i % 4]);
		count++;
		pthread_mutex_unlock(all[i % 4]);
	}
	return argument;
}

static void in_child(void)
{
	pthread_mutex_lock(&handled);
	pthread_mutex_unlock(&handled);
	pthread_mutex_init(&renewed, NULL);
	pthread_mutex_lock(&renewed);
	pthread_mutex_unlock(&renewed);
	if (pthread_mutex_trylock(&tried) == 0)
		pthread_mutex_unlock(&tried);
	pthread_mutex_lock(shared);
	pthread_mutex_unlock(shared);
	_exit(3);
}

static int child_status(pid_t child)
{
	int status = 0;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(shared, &attributes);
	pthread_atfork(prepare, behind, behind);
	pthread_create(&thread, NULL, work, NULL);
	pid_t child = fork();
	if (child == 0)
		in_child();
	pid_t other = fork();
	if (other == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	if (child_status(child) != 3 || child_status(other) != 0)
		abort();
	pthread_join(thread, NULL);
	return 0;
}
