/* A program for test_reference.py: one thread fills a buffer of bytes at several places of
 * the program, so that the bytes of a granule differ, and another one then begins to read it, each
 * round in one of several ways. All bytes are read before they are filled again, and each way
 * of filling follows one way of reading: a read that went missing shows as a pair or a
 * predecessor that cannot be. Every other time around the buffer is one that nobody has used:
 * until it is read it is private to the thread that fills it. Every run does the same. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>

enum { SIZE = 64, ROUNDS = 90, WAYS = 6 };

typedef uint32_t loose32 __attribute__((aligned(1), may_alias));
typedef uint16_t pair16 __attribute__((may_alias));

static _Alignas(64) unsigned char texts[ROUNDS + 1][SIZE], copy[SIZE];
static sem_t turns[2], all_done;
static volatile unsigned sum;

static unsigned char *text_of(unsigned round)
{
	return texts[round / WAYS % 2 ? round + 1 : 0];
}

/* Two places each, and a third that reads some. */
#define FILL(way)                                                       \
	static __attribute__((noinline)) void fill##way(unsigned char *text, unsigned round) \
	{                                                                                    \
		for (unsigned i = 0; i < SIZE; i++)                                          \
			if ((i + i / 8) % 3 == way % 3)                                      \
				text[i] = (unsigned char)(round + way);                      \
			else                                                                 \
				text[i] = (unsigned char)(round ^ i);                        \
		for (unsigned i = way; i < SIZE; i += 5)                                     \
			sum += text[i];                                                      \
	}
FILL(0)
FILL(1)
FILL(2)
FILL(3)
FILL(4)
FILL(5)

static __attribute__((noinline)) void read0(unsigned char *text)
{
	for (unsigned i = 0; i < SIZE; i++)
		sum += text[i];
}

static __attribute__((noinline)) void read1(unsigned char *text)
{
	for (unsigned i = SIZE; i-- > 0;)
		sum += text[i];
}

static __attribute__((noinline)) void read2(unsigned char *text)
{
	for (unsigned i = 1; i + 4 < SIZE; i += 4)
		sum += *(loose32 *)(text + i);
	sum += text[0] + *(loose32 *)(text + SIZE - 4);
}

static __attribute__((noinline)) void read3(unsigned char *text)
{
	memcpy(copy, text, SIZE);
}

static __attribute__((noinline)) void read4(unsigned char *text)
{
	for (unsigned i = 0; i < SIZE / 2; i++)
		sum += ((pair16 *)text)[i];
}

static __attribute__((noinline)) void read5(unsigned char *text)
{
	for (unsigned i = 5; i < SIZE + 5; i++)
		sum += text[i * 3 % SIZE];
}

static void *fill(void *unused)
{
	static void (*const ways[WAYS])(unsigned char *, unsigned) = { fill0, fill1, fill2, fill3, fill4, fill5 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		sem_wait(&turns[0]);
		ways[round % WAYS](text_of(round), round);
		sem_post(&turns[1]);
	}
	return unused;
}

static void *look(void *unused)
{
	static void (*const ways[WAYS])(unsigned char *) = { read0, read1, read2, read3, read4, read5 };
	for (unsigned round = 0; round < ROUNDS; round++) {
		sem_wait(&turns[1]);
		ways[round % WAYS](text_of(round));
		sem_post(&turns[0]);
	}
	sem_post(&all_done);
	return unused;
}

int main(void)
{
	pthread_t threads[2];
	sem_init(&turns[0], 0, 0);
	sem_init(&turns[1], 0, 0);
	sem_init(&all_done, 0, 0);
	pthread_create(&threads[0], NULL, fill, NULL);
	pthread_create(&threads[1], NULL, look, NULL);
	sem_post(&turns[0]);
	sem_wait(&all_done);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
