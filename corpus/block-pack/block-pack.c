/* Packs a buffer block by block. The main thread cuts the input into blocks
 * and queues them, packers take blocks from the queue and compress them, and
 * the main thread collects the results in order, like a small parallel
 * compressor does. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pause.h"

#define PACKERS 3
#define BLOCKS 24
#define BLOCK_BYTES 96
#define QUEUE_SLOTS 4

struct block {
	int number;
	unsigned char raw[BLOCK_BYTES];
	unsigned char packed[2 * BLOCK_BYTES];
	size_t packed_len;
	int done;
};

struct fifo {
	struct block *slot[QUEUE_SLOTS];
	int head, count;
	int closed; /* nothing more will be put */
	pthread_mutex_t *mut;
	pthread_cond_t *not_empty, *not_full;
};

static struct packer {
	struct fifo *fifo;
	struct block block[BLOCKS];
	pthread_mutex_t out_mut;
} pack = {.out_mut = PTHREAD_MUTEX_INITIALIZER};

static struct fifo *fifo_new(void)
{
	struct fifo *q = calloc(1, sizeof(*q));

	q->mut = malloc(sizeof(*q->mut));
	q->not_empty = malloc(sizeof(*q->not_empty));
	q->not_full = malloc(sizeof(*q->not_full));
	pthread_mutex_init(q->mut, NULL);
	pthread_cond_init(q->not_empty, NULL);
	pthread_cond_init(q->not_full, NULL);
	return q;
}

static void fifo_delete(struct fifo *q)
{
	pthread_cond_destroy(q->not_full);
	pthread_cond_destroy(q->not_empty);
	pthread_mutex_destroy(q->mut);
	free(q->not_full);
	free(q->not_empty);
	free(q->mut);
	free(q);
}

static void fifo_put(struct fifo *q, struct block *b)
{
	pthread_mutex_lock(q->mut);
	while (q->count == QUEUE_SLOTS)
		pthread_cond_wait(q->not_full, q->mut);
	q->slot[(q->head + q->count) % QUEUE_SLOTS] = b;
	q->count++;
	pthread_cond_signal(q->not_empty);
	pthread_mutex_unlock(q->mut);
}

static void fifo_close(struct fifo *q)
{
	pthread_mutex_lock(q->mut);
	q->closed = 1;
	pthread_cond_broadcast(q->not_empty);
	pthread_mutex_unlock(q->mut);
}

/* NULL when the queue is closed and has run empty. */
static struct block *fifo_take(struct fifo *q)
{
	struct block *b = NULL;

	pthread_mutex_lock(q->mut);
	while (q->count == 0 && !q->closed)
		pthread_cond_wait(q->not_empty, q->mut);
	if (q->count > 0) {
		b = q->slot[q->head];
		q->head = (q->head + 1) % QUEUE_SLOTS;
		q->count--;
		pthread_cond_signal(q->not_full);
	}
	pthread_mutex_unlock(q->mut);
	return b;
}

/* Sorts the rotations of the block and keeps the last column. */
static void sort_rotations(const unsigned char *in, int len, unsigned char *out)
{
	unsigned char twice[2 * BLOCK_BYTES];
	int start[BLOCK_BYTES];

	memcpy(twice, in, (size_t)len);
	memcpy(twice + len, in, (size_t)len);
	for (int i = 0; i < len; i++) {
		int at = i;

		for (; at > 0 && memcmp(twice + start[at - 1], twice + i, (size_t)len) > 0; at--)
			start[at] = start[at - 1];
		start[at] = i;
	}
	for (int i = 0; i < len; i++)
		out[i] = twice[start[i] + len - 1];
}

/* Move-to-front, then run lengths. */
static size_t encode(const unsigned char *in, int len, unsigned char *out)
{
	unsigned char order[256];
	size_t n = 0;

	for (int i = 0; i < 256; i++)
		order[i] = (unsigned char)i;
	for (int i = 0; i < len;) {
		int run = 1, k = 0;

		while (i + run < len && run < 255 && in[i + run] == in[i])
			run++;
		while (order[k] != in[i])
			k++;
		memmove(order + 1, order, (size_t)k);
		order[0] = in[i];
		out[n++] = (unsigned char)k;
		out[n++] = (unsigned char)run;
		i += run;
	}
	return n;
}

static void block_compress(struct block *b)
{
	unsigned char column[BLOCK_BYTES], code[2 * BLOCK_BYTES];

	sort_rotations(b->raw, BLOCK_BYTES, column);
	b->packed_len = encode(column, BLOCK_BYTES, code);
	memcpy(b->packed, code, b->packed_len);
}

static void block_finish(struct block *b)
{
	pthread_mutex_lock(&pack.out_mut);
	b->done = 1;
	pthread_mutex_unlock(&pack.out_mut);
}

static int block_finished(struct block *b)
{
	pthread_mutex_lock(&pack.out_mut);
	int done = b->done;
	pthread_mutex_unlock(&pack.out_mut);
	return done;
}

static void *packer_main(void *arg)
{
	(void)arg;
	for (;;) {
		struct fifo *q = pack.fifo;
		struct block *b = fifo_take(q);

		if (b == NULL)
			return NULL;
		block_compress(b);
		block_finish(b); PAUSE(40);
	}
}

static void fill_input(void)
{
	uint32_t x = 12345;
	int c = 0;

	for (int n = 0; n < BLOCKS; n++) {
		pack.block[n].number = n;
		for (int i = 0; i < BLOCK_BYTES; i++) {
			x = x * 1103515245u + 12345u;
			if ((x >> 20) % 6 == 0)
				c = "etaoin shrdlu"[(x >> 24) % 13];
			pack.block[n].raw[i] = (unsigned char)c;
		}
	}
}

static uint32_t write_output(size_t *total)
{
	uint32_t crc = 0;

	for (int n = 0; n < BLOCKS; n++) {
		struct block *b = &pack.block[n];

		while (!block_finished(b))
			usleep(300);
		for (size_t i = 0; i < b->packed_len; i++)
			crc = (crc << 5 | crc >> 27) ^ b->packed[i];
		*total += b->packed_len;
	}
	return crc;
}

int main(void)
{
	size_t total = 0;

	fill_input();
	pack.fifo = fifo_new();
	for (int i = 0; i < PACKERS; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, packer_main, NULL) != 0)
			return 2;
		pthread_detach(t);
	}
	for (int n = 0; n < BLOCKS; n++)
		fifo_put(pack.fifo, &pack.block[n]);
	fifo_close(pack.fifo);

	uint32_t crc = write_output(&total);

	fifo_delete(pack.fifo);
	pack.fifo = NULL; PAUSE(150);
	printf("%d blocks, %d -> %zu bytes, crc %08x\n", BLOCKS, BLOCKS * BLOCK_BYTES, total, crc);
	return 0;
}
