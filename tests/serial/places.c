/* Threads that take turns at values which one writes and all others read, each of them in
 * several places by turns, so often that reads are passed over. First few values: the
 * same place writes them again and again in the same context, and who has read the old one
 * has not read the new one; in the end they are read once more in other contexts. Then more than a thread keeps at hand, ints, pairs of doubles,
 * and granules that are cut when it is over: who comes next, reader or writer, comes after
 * the place where each thread read last, which differs from round to round. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

enum { MANY = 5400, PLACES = 4096, FEW = 1200, THREADS = 5, EARLY = 10, ROUNDS = EARLY + 6 };

struct point {
	double re, im;
};

static uint64_t table[MANY], cut[FEW], renewed[FEW];
static uint32_t ints[FEW];
static struct point points[FEW];
static double sums[THREADS];
static int notes[2];
static sem_t turns[THREADS], done;

#define AGAIN __asm__ volatile("" ::: "memory") /* and not from a register */
#define PLACE static __attribute__((noinline))

PLACE void renew(int round)
{
	for (int i = 0; i < FEW; i++)
		renewed[i] = (uint64_t)round;
}

PLACE double peek(void)
{
	double sum = 0;
	for (int i = 0; i < FEW; i++) {
		sum += (double)renewed[i];
		AGAIN;
		sum -= (double)renewed[i];
	}
	return sum;
}

/* Not what was written or read in other contexts than the rest. */
PLACE void end(void)
{
	for (int i = FEW / 2; i < FEW; i++)
		renewed[i] = 0;
}

/* Of all kinds early on: once a place has told nothing new for a while, what comes before it is not looked at. */
static int mixed(int i)
{
	return i * 577 % MANY;
}

PLACE void fill(int round)
{
	for (int i = 0; i < MANY; i++)
		table[i] = (uint64_t)round;
	for (int i = 0; i < FEW; i++) {
		cut[i] = (uint64_t)i;
		ints[i] = (uint32_t)round;
		points[i] = (struct point){ i, round };
	}
}

PLACE double once(void)
{
	double sum = 0;
	for (int i = 0; i < MANY; i++)
		sum += (double)table[mixed(i)];
	for (int i = 0; i < FEW; i++)
		sum += (double)cut[i] + ints[i] + points[i].re * points[i].im;
	return sum;
}

PLACE double twice(void)
{
	double sum = 0;
	for (int i = 0; i < MANY; i++) {
		sum += (double)table[mixed(i)];
		AGAIN;
		sum -= (double)table[mixed(i)];
	}
	for (int i = 0; i < FEW; i++) {
		sum += (double)cut[i] + ints[i] + points[i].re * points[i].im;
		AGAIN;
		sum -= (double)cut[i] + ints[i] + points[i].re * points[i].im;
	}
	return sum;
}

/* Values far from each other, which a thread would keep in the same places. */
PLACE double far_away(void)
{
	double sum = 0;
	for (int i = 0; i < MANY - PLACES; i++)
		sum += (double)table[i + PLACES];
	return sum;
}

PLACE double near(void)
{
	double sum = 0;
	for (int i = 0; i < MANY - PLACES; i++) {
		sum -= (double)table[i];
		AGAIN;
		sum += (double)table[i];
	}
	return sum;
}

/* Whole, in halves and in parts. */
PLACE void finish(void)
{
	for (int i = 0; i < MANY; i++)
		table[i] = 0;
	for (int i = 0; i < FEW; i++) {
		if (i % 2)
			((uint32_t *)cut)[2 * i + i / 2 % 2] = 1;
		else
			((char *)cut)[8 * i + i / 2 % 8] = 1;
		ints[i] = 0;
		points[i] = (struct point){ 0, 0 };
	}
}

static void take_turn(int self, int round)
{
	if (self == 0 && round < EARLY)
		renew(round);
	else if (self == 0 && round == EARLY)
		end();
	if (self && round < EARLY) {
		sums[self] += peek() + peek();
		if (round == EARLY - 1)
			notes[self % 2]++; /* an event */
		sums[self] += peek();
	}
	if (round < EARLY)
		return;
	if (self == 0 && round < ROUNDS - 1)
		fill(round);
	else if (self == 0)
		finish();
	else if ((self + round) % 3)
		sums[self] += once() + twice() + (round % 2 ? once() : 0);
	else
		sums[self] += twice() + once() + (round % 2 ? twice() : 0);
	for (int i = 0; i < 2 && self && self % 2 == 0; i++)
		sums[self] += far_away() + near() + far_away();
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	for (int round = 0; round < ROUNDS; round++) {
		sem_wait(&turns[self]);
		take_turn(self, round);
		sem_post(round == ROUNDS - 1 && self == THREADS - 1 ? &done : &turns[(self + 1) % THREADS]);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	sem_init(&done, 0, 0);
	for (int i = 0; i < THREADS; i++)
		sem_init(&turns[i], 0, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	sem_post(&turns[0]);
	sem_wait(&done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%f\n", sums[1] + sums[2] + sums[3] + sums[4]);
	return 0;
}
