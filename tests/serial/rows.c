/* Threads that take turns at rows of numbers in loops that the compiler unrolls or
 * vectorises: copies of one access side by side, which have one hook. Rows overlap in
 * some calls and not in others, so that a read may be of what was written a moment
 * before; they are private, handed over, read by several threads and written again. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 16, ROOM = 4 * SIDE, ROWS = 24, THREADS = 4, ROUNDS = 6 };

static pthread_barrier_t turn_ends, all_begin, all_done;
static double *grid, *own[THREADS];
static long *line, *tail[THREADS];
static double sums[THREADS];

/* The pointers may overlap in any way. */
static __attribute__((noinline)) void subtract(double *to, const double *from, double factor)
{
	for (int j = 0; j < SIDE; j++)
		to[j] -= factor * from[j];
}

/* Each reads what the one before wrote, which the other pointer may have changed. */
static __attribute__((noinline)) void carry(long *to, long *other)
{
#pragma clang loop vectorize(disable) unroll(full)
	for (int j = 0; j < SIDE; j++) {
		to[j + 1] = to[j] + 1;
		other[j] = j;
	}
}

static __attribute__((noinline)) void copy(long *to, const long *from)
{
#pragma clang loop vectorize(disable) unroll(full)
	for (int j = 0; j < SIDE; j++)
		to[j] = from[j] * 3;
}

/* What it reads is not side by side, and another thread's. */
static __attribute__((noinline)) void gather(long *to, const long *from)
{
#pragma clang loop vectorize(disable) unroll(full)
	for (int j = 0; j < SIDE; j++)
		to[j] = from[j * 3];
}

static __attribute__((noinline)) double sum(const double *row)
{
	double sum = 0;
	for (int j = 0; j < SIDE; j++)
		sum += row[j];
	return sum;
}

/* Every row of one's own ends in another way. */
static __attribute__((noinline)) void turn(int self, int round)
{
	for (int i = 0; i < ROWS; i++) {
		double *row = grid + i * SIDE, *mine = own[self] + i * ROOM;
		if ((i + round) % THREADS == self)
			subtract(row, mine, 0.5);
		if ((i + round) % 3 == 0)
			sums[self] += sum(row);
		subtract(mine, row, 0.25);
		if (i % 2)
			subtract(mine + i % 7, mine, 0.125);
		else
			subtract(mine, mine + i % 20, 0.125);
		if (i % 5 == 0)
			sums[self] += own[(self + 1) % THREADS][i * ROOM + i % SIDE];
	}
	for (int i = 0; i < ROWS; i++) {
		long *mine = tail[self] + i * ROOM;
		gather(mine, line + i * 3);
		if (i % 3)
			carry(mine, mine + SIDE + i % 5);
		carry(line + i * SIDE, line + (i + 2) * SIDE - i % 7 * 8);
		copy(line + i * SIDE, line + i * SIDE + i % 5);
		copy(line + i * SIDE + i % 3, line + i * SIDE);
	}
}

static void *work(void *argument)
{
	int self = (int)(long)argument;
	pthread_barrier_wait(&all_begin);
	for (int round = 0; round < ROUNDS; round++)
		for (int whose = 0; whose < THREADS; whose++) {
			if (whose == self)
				turn(self, round);
			pthread_barrier_wait(&turn_ends);
		}
	pthread_barrier_wait(&all_done);
	return NULL;
}

/* Looks at all of it from the end on: what was done last, and when? */
static double look(double *room, long *more)
{
	double sum = 0;
	for (int i = ROWS * ROOM; i-- > 0;) {
		if (i % 2) {
			sum += room[i];
			more[i] = 0;
		} else {
			sum += (double)more[i];
			room[i] = 0;
		}
	}
	return sum;
}

int main(void)
{
	pthread_t threads[THREADS];
	pthread_barrier_init(&turn_ends, NULL, THREADS);
	pthread_barrier_init(&all_begin, NULL, THREADS + 1);
	pthread_barrier_init(&all_done, NULL, THREADS + 1);
	grid = calloc(ROWS * SIDE, sizeof *grid);
	line = calloc((ROWS + 6) * SIDE, sizeof *line);
	for (int i = 0; i < THREADS; i++) {
		own[i] = calloc(ROWS * ROOM, sizeof *own[i]);
		tail[i] = calloc(ROWS * ROOM, sizeof *tail[i]);
	}
	for (int i = 0; i < ROWS * SIDE; i++)
		grid[i] = i;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	pthread_barrier_wait(&all_begin);
	pthread_barrier_wait(&all_done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		sums[i] += look(own[i], tail[i]);
	printf("%g %ld\n", sums[0] + sums[1] + sums[2] + sums[3], line[SIDE]);
	return 0;
}
