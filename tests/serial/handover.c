/* Threads that take turns over data too large for what the runtime keeps at hand:
 * thousands of cells change hands between two synchronisation calls, a table has more
 * entries than a thread remembers, text is read byte by byte again and again. Every
 * run does the same, so what is observed can be held against a trace. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#define CELLS 6000
#define THREADS 3
#define TURNS 4

static uint64_t cells[CELLS];
static uint32_t words[CELLS];
static unsigned char text[512];
static uint64_t seen[THREADS];
static sem_t turn[THREADS], done;

/* More events of another thread than are sent one by one. */
static void take(int self)
{
	for (int i = 0; i < CELLS; i++)
		cells[i] += (uint64_t)self;
	for (int i = 0; i < CELLS; i++)
		words[i] ^= (uint32_t)i;
}

/* What all read and nobody writes for a while. */
static void look(int self)
{
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < CELLS; i++)
			seen[self] += cells[i] + words[i];
}

static void spell(int self)
{
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < 512; i++)
			if (text[i] == 'a' + round)
				seen[self]++;
}

static void fill(int self)
{
	for (int i = 0; i < 512; i++)
		text[i] = (unsigned char)('a' + (i + self) % 26);
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	for (int t = 0; t < TURNS; t++) {
		sem_wait(&turn[self]);
		if (t % THREADS == self)
			fill(self);
		if ((t + self) % 2)
			take(self);
		look(self);
		spell(self);
		sem_post(t == TURNS - 1 && self == THREADS - 1 ? &done : &turn[(self + 1) % THREADS]);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	sem_init(&done, 0, 0);
	for (int i = 0; i < THREADS; i++)
		sem_init(&turn[i], 0, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	sem_post(&turn[0]);
	sem_wait(&done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return seen[0] + seen[1] + seen[2] == 0;
}
