/* Members of different sizes that share their granules: for long they are one
 * thread's, which uses them as ints, shorts, bytes and all at once, then another
 * thread looks at some of them and writes others. Records lie on the heap, where they
 * are given out again, and on the stack, where each call begins a new life at the same
 * place; what was never written in this life must not be told from the one before.
 * Every run does the same. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 120, RECORDS = 4 };

struct record {
	int count;
	unsigned short flags;
	unsigned char kind, state;
	unsigned char tag;
	char name[5];
	short width;
	int left, right;
	long key;
};

static struct record *shown, *kept[RECORDS];
static sem_t visitor, owner;
static volatile unsigned sum;

static __attribute__((noinline)) void begin(struct record *record, unsigned round)
{
	if (round % 3 == 0)
		memset(record, 0, sizeof *record);
	if (round % 3 != 1)
		record->count = (int)round;
	record->flags = (unsigned short)(round * 3);
	if (round % 2)
		record->left = record->right = 1;
	if (round % 5 == 2)
		record->key = (long)round;
}

static __attribute__((noinline)) void work(struct record *record, unsigned round)
{
	for (unsigned i = 0; i < 3; i++) {
		record->kind = (unsigned char)(record->flags >> 4);
		record->flags ^= 5;
		if (round % 4 == 1)
			record->state = record->kind;
		if (i == 1 && round % 7 == 3)
			record->count += record->width = (short)record->flags;
	}
	for (unsigned i = 0; i < sizeof record->name && round % 4 != 2; i++)
		record->name[i] = (char)('a' + i);
	if (round % 6 == 4)
		record->tag = (unsigned char)record->name[round % 5];
	if (round % 8 == 5)
		record->right = record->left + (int)record->key;
}

/* All of it, byte by byte or at once, as who hashes and who copies does. */
static __attribute__((noinline)) void pass(const struct record *record, unsigned round)
{
	const unsigned char *bytes = (const unsigned char *)record;
	for (unsigned i = 0; round % 9 == 6 && i < sizeof *record; i++)
		sum += bytes[i];
	if (round % 10 == 7)
		*kept[(round + 1) % RECORDS] = *record;
}

static __attribute__((noinline)) void show(struct record *record, unsigned round)
{
	begin(record, round);
	work(record, round);
	pass(record, round);
	shown = record;
	sem_post(&visitor);
	sem_wait(&owner);
	work(record, round + 1);
}

static __attribute__((noinline)) void on_the_stack(unsigned round)
{
	unsigned char mark;
	unsigned short step;
	struct record record;
	mark = (unsigned char)round;
	step = (unsigned short)(round ^ 9);
	show(&record, round);
	sum += *(volatile unsigned char *)&mark + *(volatile unsigned short *)&step;
}

static void on_the_heap(unsigned round)
{
	unsigned at = round % RECORDS;
	free(kept[at]);
	kept[at] = malloc(sizeof *kept[at]);
	show(kept[at], round);
}

static void own(void)
{
	for (unsigned i = 0; i < RECORDS; i++)
		kept[i] = malloc(sizeof *kept[i]);
	for (unsigned round = 0; round < ROUNDS; round++)
		if (round % 3)
			on_the_stack(round / 2);
		else
			on_the_heap(round);
}

static __attribute__((noinline)) void look(struct record *record, unsigned round)
{
	sum += record->kind;
	if (round % 2)
		sum += record->flags;
	if (round % 3 == 1)
		sum += (unsigned)record->count;
	if (round % 4 == 3)
		sum += record->state + (unsigned char)record->name[round % 5];
	if (round % 5 == 4)
		record->state = 7;
	if (round % 6 == 5)
		record->left = record->right;
	if (round % 7 == 6)
		sum += (unsigned)record->key + (unsigned)record->width;
	if (round % 11 == 10)
		memset(record->name, 'z', 3);
}

static void *visit(void *unused)
{
	(void)unused;
	for (unsigned round = 0; round < ROUNDS; round++) {
		sem_wait(&visitor);
		look(shown, round);
		sem_post(&owner);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;
	sem_init(&visitor, 0, 0);
	sem_init(&owner, 0, 0);
	pthread_create(&thread, NULL, visit, NULL);
	own();
	pthread_join(thread, NULL);
	return 0;
}
