/* What keeps two accesses apart without a lock, and what only seems to; wrappers of
 * creation; a loop that waits. tests/test_scan.sh looks for the lines by their comments. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static sem_t ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int part[4], sum[4], late[4], queued, message, unguarded, checked;

/* Creates a thread for its caller. */
__attribute__((noinline)) static void launch(pthread_t *thread, void *(*run)(void *), void *given)
{
	if (pthread_create(thread, NULL, run, given) != 0)
		abort();
}

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static void *phases(void *arg)
{
	int me = *(int *)arg;

	part[me] = 1; /* before the barrier */
	meet();
	for (int i = 0; i < 4; i++)
		sum[me] += part[i]; /* after the barrier */
	late[me] = 1; /* no barrier behind this */
	for (int i = 0; i < 4; i++)
		unguarded += late[i]; /* no barrier before this */
	return NULL;
}

static void *writer(void *arg)
{
	message = 1; /* handed over */
	sem_post(&ready);
	return arg;
}

static void *producer(void *arg)
{
	pthread_mutex_lock(&lock);
	queued++; /* one more */
	checked = 1; /* set while it waits */
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&outer); /* needed to end */
	pthread_mutex_unlock(&outer);
	return arg;
}

static int take(void)
{
	pthread_mutex_lock(&lock);
	while (queued == 0) /* looks again */
		pthread_cond_wait(&changed, &lock);
	int left = --queued; /* one less */

	pthread_mutex_unlock(&lock);
	return left;
}

static int is_set(void)
{
	pthread_mutex_lock(&lock);
	int seen = checked; /* looked at too early */

	pthread_mutex_unlock(&lock);
	return seen;
}

static void wait_wrongly(void)
{
	while (!is_set()) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
}

int main(int argc, char **argv)
{
	pthread_t team[4], one, two;
	int numbers[4];

	(void)argv;
	pthread_barrier_init(&barrier, NULL, 4);
	sem_init(&ready, 0, 0);
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		pthread_create(&team[i], NULL, phases, &numbers[i]);
	}
	launch(&one, writer, NULL);
	launch(&two, producer, NULL);
	sem_wait(&ready);
	int got = message + take(); /* taken over */

	if (argc > 1)
		wait_wrongly();
	for (int i = 0; i < 4; i++)
		pthread_join(team[i], NULL);
	pthread_join(one, NULL);
	message = 2; /* after the join of the wrapped */
	pthread_mutex_lock(&outer);
	pthread_join(two, NULL); /* joins under a lock */
	pthread_mutex_unlock(&outer);
	return got == 1 && sum[0] == 4 ? 0 : 1;
}
