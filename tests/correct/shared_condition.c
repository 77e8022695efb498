/* Mutex and condition variable that processes share: parent and child take turns.
 * uncontrolled: fork */
#include "check.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t change;
	int turn, count;
} *shared;

static void play(int me)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&shared->lock);
		while (shared->turn != me)
			pthread_cond_wait(&shared->change, &shared->lock);
		shared->turn = 1 - me;
		shared->count++;
		pthread_cond_signal(&shared->change);
		pthread_mutex_unlock(&shared->lock);
	}
}

static void *player(void *none)
{
	play(0);
	return none;
}

int main(void)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t condition;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	pthread_mutexattr_init(&mutex);
	pthread_condattr_init(&condition);
	EQUAL(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_mutex_init(&shared->lock, &mutex), 0);
	EQUAL(pthread_cond_init(&shared->change, &condition), 0);
	pid_t child = fork();
	if (child == 0) {
		play(1);
		_exit(0);
	}
	finish(start(player, NULL));
	EQUAL(waitpid(child, NULL, 0), child);
	printf("%d\n", shared->count);
	return 0;
}
