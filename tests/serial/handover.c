/* Threads that take turns over data too large for what the runtime keeps at hand:
 * thousands of cells change hands between two synchronisation calls, a table has more
 * entries than a thread remembers, text is read byte by byte again and again, so
 * often that reads are passed over. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#define CELLS 6000
#define TEXT 512
#define THREADS 4
#define TURNS 6

static uint64_t cells[CELLS];
static uint32_t words[CELLS];
static unsigned char text[TEXT];
static uint64_t notes[THREADS][8];
static uint64_t seen[THREADS];
static sem_t turn[THREADS], done;

/* More events of another thread than are sent one by one, and a few others at the end. */
static void take(int self, int t)
{
	for (int i = 0; i < CELLS; i++)
		cells[i] += (uint64_t)self;
	for (int i = 0; i < CELLS; i++)
		words[i] ^= (uint32_t)i;
	for (int i = 0; i < 2 + t; i++) {
		seen[self] += notes[(self + 2) % THREADS][i];
		notes[(self + 1) % THREADS][i] = i % 2 ? seen[self] : 0;
	}
}

/* What all read and nobody writes for a while, in several places. */
static void look(int self)
{
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < CELLS; i++)
			seen[self] += cells[i] + words[i];
}

static void fill(int self)
{
	for (int i = 0; i < TEXT; i++)
		text[i] = (unsigned char)('a' + (i + self) % 26);
}

/* In several ways: whole, every third byte, and what lies between two letters. */
static void spell(int self)
{
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < TEXT; i++)
			if (text[i] == 'a' + round)
				seen[self]++;
	for (int i = self; i < TEXT; i += 3)
		seen[self] += text[i];
	for (int i = 0; i < TEXT && text[i] != 'y'; i++)
		if (text[i] > 'm')
			seen[self] += text[TEXT - 1 - i];
}

/* Each thread once, at a place of its own: it comes after whoever was there last. */
static void finish(int self)
{
	uint64_t first = cells[0];
	if (self == 0)
		for (int i = 0; i < CELLS; i++)
			cells[i] = first;
	else if (self == 1)
		for (int i = 0; i < CELLS; i++)
			words[i] = (uint32_t)first;
	else
		for (int i = 0; i < TEXT; i++)
			text[i] = (unsigned char)first;
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	for (int t = 0; t < TURNS; t++) {
		sem_wait(&turn[self]);
		for (int i = 0; i < 8; i++)
			seen[self] += notes[self][i];
		if ((t + 1) % THREADS == self)
			fill(self);
		if (t == TURNS - 1)
			finish(self);
		look(self);
		spell(self);
		if (t % THREADS == self)
			take(self, t);
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
	return seen[0] + seen[1] + seen[2] + seen[3] == 0;
}
