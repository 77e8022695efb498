/* A barrier that several threads and a child come to, while another thread looks on; each round is complete.
 * uncontrolled: fork */
#include "check.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARTIES 4
#define ROUNDS 5

static struct {
	pthread_barrier_t barrier;
	atomic_int came[ROUNDS], last[ROUNDS];
} *hall;
static atomic_bool watching = true;

static void *come(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		atomic_fetch_add(&hall->came[i], 1);
		if (pthread_barrier_wait(&hall->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			atomic_fetch_add(&hall->last[i], 1);
		EQUAL(atomic_load(&hall->came[i]), PARTIES);
	}
	return unused;
}

static void *watch(void *unused)
{
	while (atomic_load(&watching))
		sched_yield();
	return unused;
}

int main(void)
{
	pthread_barrierattr_t attributes;
	pthread_t parties[PARTIES - 1], watcher;

	hall = mmap(NULL, sizeof *hall, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&attributes);
	EQUAL(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
	EQUAL(pthread_barrier_init(&hall->barrier, &attributes, PARTIES), 0);
	pid_t child = fork();
	if (child == 0) {
		come(NULL);
		_exit(0);
	}
	watcher = start(watch, NULL);
	for (int i = 0; i < PARTIES - 1; i++)
		parties[i] = start(come, NULL);
	for (int i = 0; i < PARTIES - 1; i++)
		finish(parties[i]);
	int status;
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	atomic_store(&watching, false);
	finish(watcher);
	EQUAL(pthread_barrier_destroy(&hall->barrier), 0);
	for (int i = 0; i < ROUNDS; i++)
		EQUAL(atomic_load(&hall->last[i]), 1);
	printf("%d rounds\n", ROUNDS);
	return 0;
}
