/* A program for test_reference.py: three threads take turns at buffers of bytes, in
 * the ways that the runtime has short ways for (loom/runtime/observe/cached_step.h). One fills and sums
 * up, one looks things up in what was filled, one overwrites now and then. The same
 * accesses come again and again, so that nearly all of them are known after the first
 * rounds; what is observed must be exact all the same. Every run does the same. */
#include <semaphore.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 64, ROUNDS = 60, THREADS = 3 };

typedef uint32_t loose32 __attribute__((aligned(1), may_alias));

static struct line {
	unsigned at; /* beside the first letters, in one granule */
	char letters[12];
	unsigned count; /* behind the last ones */
} line;
static _Alignas(64) unsigned char text[SIZE], packed[SIZE], notes[SIZE];
static sem_t turns[THREADS], done;
static volatile unsigned sum;

static void line_next(unsigned round)
{
	if (line.at == sizeof line.letters || line.letters[line.at] == 0) {
		memcpy(line.letters, round % 3 ? "turn by turn" : "in turns", round % 3 ? 12 : 9);
		line.at = 0;
	}
	sum += (unsigned char)line.letters[line.at++];
	line.count++;
}

static void fill(unsigned round)
{
	for (unsigned i = 0; i < SIZE; i++) {
		line_next(round);
		text[i] = (unsigned char)(sum + i);
		if (i % 16 == round % 16)
			sum += text[i];
	}
	for (unsigned i = round % 4 ? 0 : 3; i < SIZE; i++)
		sum += text[i];
	for (unsigned i = 0; i < SIZE; i++)
		sum += notes[i];
}

static unsigned match(const unsigned char *old, const unsigned char *new, unsigned limit)
{
	unsigned length = 0;
	while (length < limit && (old[length] ^ new[length]) < 200)
		length++;
	return length;
}

/* Reads and writes by turns: each event is in the contexts of the next ones. */
static void take_notes(void)
{
	for (unsigned i = 0; i + 4 <= SIZE; i++) {
		notes[i] = (unsigned char)*(loose32 *)(text + i);
		sum++;
	}
}

/* The same where a read is the first of bytes in two granules, of each of which others were read before. */
static void take_notes_across(void)
{
	for (unsigned i = 0; i < SIZE; i += 8)
		sum += text[i + 4];
	for (unsigned i = 0; i + 16 <= SIZE; i += 8) {
		notes[i] = (unsigned char)*(loose32 *)(text + i + 5);
		sum++;
	}
}

static void look(unsigned round)
{
	if (round % 3)
		take_notes();
	else
		take_notes_across();
	for (unsigned i = 0; i + 8 < SIZE; i++) {
		sum += *(loose32 *)(text + i);
		if (i % 5 == round % 5)
			sum += match(text + i / 2, text + i, 7);
	}
	for (unsigned i = 0; i < SIZE; i++)
		packed[i] = text[SIZE - 1 - i];
}

static void overwrite(unsigned round)
{
	memcpy(packed + round % 32, text + round % 7, 21);
	for (unsigned i = 0; round % 8 == 7 && i < 13; i++)
		text[i + 9] = packed[i];
	sum += line.at + (round % 8 == 5 ? line.count : 0);
	if (round % 16 == 11)
		line.letters[2] = 'x';
}

static void *run(void *argument)
{
	unsigned number = (unsigned)(uintptr_t)argument;
	for (unsigned round = 0; round < ROUNDS; round++) {
		sem_wait(&turns[number]);
		if (number == 0)
			fill(round);
		else if (number == 1)
			look(round);
		else
			overwrite(round);
		sem_post(round == ROUNDS - 1 && number == THREADS - 1 ? &done
								      : &turns[(number + 1) % THREADS]);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	sem_init(&done, 0, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		sem_init(&turns[i], 0, 0);
		pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
	}
	sem_post(&turns[0]);
	sem_wait(&done);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
