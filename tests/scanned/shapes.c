/* One of each thing that a scan must see or see through. What a line is for stands in
 * its comment; the test finds lines by these. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

struct queue {
	pthread_mutex_t lock;
	int used, limit;
	struct item *first;
};
struct item {
	struct item *next;
	int value;
};
struct worker {
	pthread_t thread;
	int number, done;
	struct queue *queue;
};

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t guide = PTHREAD_RWLOCK_INITIALIZER;
static int guided, started, finished, late, tried, plain;
static _Thread_local int own;
static atomic_int counted;

static __attribute__((noinline)) void enter(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
}

static __attribute__((noinline)) void leave(struct queue *queue)
{
	pthread_mutex_unlock(&queue->lock);
}

static __attribute__((noinline)) void *fresh(size_t size)
{
	void *block = calloc(1, size);

	if (!block)
		abort();
	return block;
}

static __attribute__((noinline)) void put(struct queue *queue, int value)
{
	struct item *item = fresh(sizeof *item);

	item->value = value;
	enter(queue);
	if (queue->used < queue->limit) {
		item->next = queue->first;
		queue->first = item; /* under the wrapped lock */
		queue->used++;
	}
	leave(queue);
}

static void forward(void)
{
	pthread_mutex_lock(&one);
	pthread_mutex_lock(&two); /* one before two */
	plain++;
	pthread_mutex_unlock(&two);
	pthread_mutex_unlock(&one);
}

static void backward(void)
{
	pthread_mutex_lock(&two);
	pthread_mutex_lock(&one); /* two before one */
	plain++;
	pthread_mutex_unlock(&one);
	pthread_mutex_unlock(&two);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	own++; /* thread-local */
	worker->done = worker->number + started; /* started: before the threads */
	put(worker->queue, worker->number);
	pthread_rwlock_rdlock(&guide);
	worker->done += guided; /* guided: read */
	pthread_rwlock_unlock(&guide);
	if (pthread_mutex_trylock(&one) == 0) {
		tried++; /* under the tried lock */
		pthread_mutex_unlock(&one);
	}
	atomic_fetch_add(&counted, 1);
	late += worker->number; /* late: by the thread */
	(worker->number % 2 ? forward : backward)();
	return NULL;
}

int main(void)
{
	struct queue *queue = fresh(sizeof *queue);
	struct worker *workers = fresh(THREADS * sizeof *workers);

	queue->limit = 3;
	pthread_mutex_init(&queue->lock, NULL);
	started = 1; /* started: by main */
	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].queue = queue;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	}
	pthread_rwlock_wrlock(&guide);
	guided = 1; /* guided: written */
	pthread_rwlock_unlock(&guide);
	late = 7; /* late: by main */
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	finished = queue->used; /* used: after the joins */
	printf("%d %d %d %d %d\n", finished, guided, tried, plain, own);
	return 0;
}
