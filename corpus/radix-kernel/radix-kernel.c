/* Parallel radix sort on the top digit. Workers count their keys, agree on
 * where each bucket starts, and move the keys there through small staging
 * areas so that the shared cursors are touched once per batch and not once per
 * key. The buckets are then sorted one by one. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pause.h"

#define WORKERS 3
#define KEYS_EACH 400
#define KEYS (WORKERS * KEYS_EACH)
#define BUCKETS 16
#define BATCH 8
#define LOCKS 4 /* each lock looks after BUCKETS / LOCKS buckets */

static struct sorter {
	uint32_t out[KEYS];
	unsigned count[BUCKETS];
	unsigned start[BUCKETS + 1];
	unsigned cursor[BUCKETS]; /* next free place in out */
	pthread_mutex_t count_lock;
	pthread_mutex_t lock[LOCKS];
	pthread_barrier_t phase;
} sorter;

struct stage {
	uint32_t key[BUCKETS][BATCH];
	unsigned used[BUCKETS];
};

static unsigned digit(uint32_t key)
{
	return key >> 28;
}

static uint32_t make_key(unsigned id, unsigned n)
{
	uint32_t k = id * 7919u + n * 104729u + 1;

	for (int round = 0; round < 150; round++) {
		k ^= k >> 16;
		k *= 0x7feb352du;
		k ^= k >> 15;
	}
	return k;
}

static void batch_store(struct sorter *s, struct stage *st, unsigned d)
{
	unsigned at = s->cursor[d];

	memcpy(s->out + at, st->key[d], st->used[d] * sizeof(uint32_t));
	s->cursor[d] = at + st->used[d];
	st->used[d] = 0;
}

static void stage_key(struct sorter *s, struct stage *st, uint32_t key)
{
	unsigned d = digit(key);

	st->key[d][st->used[d]++] = key;
	if (st->used[d] == BATCH) {
		pthread_mutex_lock(&s->lock[d % LOCKS]);
		batch_store(s, st, d);
		pthread_mutex_unlock(&s->lock[d % LOCKS]);
	}
}

/* What is left in the staging area, all buckets of a lock in one go. */
static void stage_drain(struct sorter *s, struct stage *st)
{
	const unsigned span = BUCKETS / LOCKS;

	for (unsigned l = 0; l < LOCKS; l++) {
		pthread_mutex_lock(&s->lock[l]);
		for (unsigned d = l * span; d < (l + 1) * span; d++) {
			unsigned at = s->cursor[d]; PAUSE(3);

			memcpy(s->out + at, st->key[d], st->used[d] * sizeof(uint32_t));
			s->cursor[d] = at + st->used[d];
		}
		pthread_mutex_unlock(&s->lock[l]);
	}
}

static void add_counts(struct sorter *s, const unsigned *mine)
{
	pthread_mutex_lock(&s->count_lock);
	for (unsigned d = 0; d < BUCKETS; d++)
		s->count[d] += mine[d];
	pthread_mutex_unlock(&s->count_lock);
}

static void place_buckets(struct sorter *s)
{
	for (unsigned d = 0; d < BUCKETS; d++) {
		s->start[d + 1] = s->start[d] + s->count[d];
		s->cursor[d] = s->start[d];
	}
}

/* Works on a copy, which stays in this worker's cache. */
static void sort_bucket(uint32_t *bucket, unsigned n)
{
	uint32_t key[KEYS];

	memcpy(key, bucket, n * sizeof(uint32_t));
	for (unsigned i = 1; i < n; i++) {
		uint32_t k = key[i];
		unsigned at = i;

		for (; at > 0 && key[at - 1] > k; at--)
			key[at] = key[at - 1];
		key[at] = k;
	}
	memcpy(bucket, key, n * sizeof(uint32_t));
}

static void *worker_main(void *arg)
{
	unsigned id = *(unsigned *)arg;
	unsigned mine[BUCKETS] = {0};
	struct stage st = {0};

	for (unsigned n = 0; n < KEYS_EACH; n++)
		mine[digit(make_key(id, n))]++;
	add_counts(&sorter, mine);
	pthread_barrier_wait(&sorter.phase);
	if (id == 0)
		place_buckets(&sorter);
	pthread_barrier_wait(&sorter.phase);

	for (unsigned n = 0; n < KEYS_EACH; n++) {
		stage_key(&sorter, &st, make_key(id, n)); PAUSE(id > 0 && n % 8 == 7);
	}
	stage_drain(&sorter, &st);
	pthread_barrier_wait(&sorter.phase);

	for (unsigned d = id; d < BUCKETS; d += WORKERS)
		sort_bucket(sorter.out + sorter.start[d], sorter.count[d]);
	return NULL;
}

static int verify(const struct sorter *s)
{
	uint32_t in = 0, out = 0;
	int wrong = 0;

	for (unsigned id = 0; id < WORKERS; id++)
		for (unsigned n = 0; n < KEYS_EACH; n++)
			in += make_key(id, n);
	for (unsigned i = 0; i < KEYS; i++) {
		out += s->out[i];
		if (i > 0 && s->out[i - 1] > s->out[i])
			wrong++;
	}
	if (in != out)
		fprintf(stderr, "sum of keys %08x, was %08x\n", out, in);
	return wrong + (in != out);
}

int main(void)
{
	pthread_t thread[WORKERS];
	unsigned id[WORKERS];

	pthread_barrier_init(&sorter.phase, NULL, WORKERS);
	pthread_mutex_init(&sorter.count_lock, NULL);
	for (int l = 0; l < LOCKS; l++)
		pthread_mutex_init(&sorter.lock[l], NULL);
	for (unsigned i = 0; i < WORKERS; i++) {
		id[i] = i;
		if (pthread_create(&thread[i], NULL, worker_main, &id[i]) != 0)
			return 2;
	}
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);

	int wrong = verify(&sorter);

	printf("%d keys, median %08x\n", KEYS, sorter.out[KEYS / 2]);
	if (wrong != 0) {
		fprintf(stderr, "keys are not in order\n");
		return 1;
	}
	return 0;
}
