/* Threads that take turns at a lot of shared data, so that every run does the same and
 * nearly every access is to what another thread had last: ints that are filled, read
 * twice and scattered, points of two doubles that are copied, all by thousands between
 * two synchronisation calls. test_reference.py compares what is observed here without
 * the trace, where known changes, first accesses and cached steps stay out of the runtime,
 * events travel together and threads become busy. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 6000, THREADS = 4, ROUNDS = 5 };

struct point {
	double re, im;
};

static pthread_barrier_t turn_ends, all_done;
static int *keys, *moved;
static struct point *points;
static unsigned short small[64];
static long totals[THREADS];
static double sums[THREADS];

static __attribute__((noinline)) void fill(int thread)
{
	for (int i = thread & 1; i < N; i++)
		keys[i] = i * 7 + thread;
}

static __attribute__((noinline)) long count(void)
{
	long sum = 0;
	for (int i = 0; i < N; i++)
		sum += keys[i];
	return sum;
}

static __attribute__((noinline)) void move(void)
{
	for (int i = 0; i < N; i++)
		moved[i * 577 % N] = keys[i];
}

static __attribute__((noinline)) void copy(int thread)
{
	for (int i = 0; i < N; i++) {
		struct point point = points[i * 331 % N];
		point.re += thread;
		point.im -= 1;
		points[i] = point;
	}
}

static __attribute__((noinline)) double scan(void)
{
	double sum = 0;
	for (int i = 0; i < N; i++)
		sum += points[i].re * points[i].im;
	return sum;
}

static void take_turn(int thread, int round)
{
	if ((thread + round) % 3 == 0)
		fill(thread);
	totals[thread] += count();
	totals[thread] += count();
	if ((thread + round) % 2 == 0) {
		move();
		small[(thread * 5 + round) % 64]++;
	}
	if (round % 2)
		copy(thread);
	else
		sums[thread] += scan();
}

static void *work(void *argument)
{
	int thread = (int)(long)argument;
	for (int turn = 0; turn < ROUNDS * THREADS; turn++) {
		if (turn % THREADS == thread)
			take_turn(thread, turn / THREADS);
		pthread_barrier_wait(&turn_ends);
	}
	pthread_barrier_wait(&all_done);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	keys = calloc(N, sizeof *keys);
	moved = calloc(N, sizeof *moved);
	points = calloc(N, sizeof *points);
	pthread_barrier_init(&turn_ends, NULL, THREADS);
	pthread_barrier_init(&all_done, NULL, THREADS + 1);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	pthread_barrier_wait(&all_done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %f %d\n", totals[1], sums[2], moved[5]);
	return 0;
}
