/* Round-robin job runner. Jobs sit in a ring; a runner takes the job at the
 * head, puts it back at the tail for its next turn and then computes one time
 * slice. Since every turn moves one job from head to tail, the jobs keep their
 * relative order for the whole run, which the final listing relies on. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "../pause.h"

#define RUNNERS 3
#define TURNS 8
#define JOBS 7
#define SLOTS 8

struct job {
	int number;
	uint32_t seed; /* fixed for the life of the job */
};

struct ring {
	struct job *slot[SLOTS];
	unsigned head; /* next to take */
	unsigned tail; /* next free */
	unsigned taken, returned;
	pthread_mutex_t lock;
};

static struct job jobs[JOBS];
static struct ring ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct job *ring_take(struct ring *r)
{
	pthread_mutex_lock(&r->lock);
	unsigned at = r->head;
	struct job *j = r->slot[at];
	r->slot[at] = NULL;
	r->head = (at + 1) % SLOTS;
	r->taken++;
	pthread_mutex_unlock(&r->lock);
	return j;
}

static void ring_append(struct ring *r, struct job *j)
{
	pthread_mutex_lock(&r->lock);
	unsigned at = r->tail;
	r->slot[at] = j;
	r->tail = (at + 1) % SLOTS;
	r->returned++;
	pthread_mutex_unlock(&r->lock);
}

/* One time slice: the job's Collatz-like walk from where its seed points. */
static uint32_t run_slice(uint32_t seed)
{
	uint32_t x = seed, steps = 0;

	for (int i = 0; i < 40000; i++) {
		x = x & 1 ? 3 * x + 1 : x >> 1;
		steps += x & 0xff;
		if (x <= 4)
			x = seed * 2654435761u + steps;
	}
	return steps;
}

struct runner {
	pthread_t thread;
	unsigned id;
	uint32_t steps;
};

static void *runner_main(void *arg)
{
	struct runner *me = arg;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct job *j = ring_take(&ring); PAUSE(3 * (int)me->id);

		if (j == NULL)
			continue;
		ring_append(&ring, j);
		me->steps += run_slice(j->seed);
	}
	return NULL;
}

static void ring_fill(struct ring *r)
{
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct job){.number = i, .seed = 977u * (unsigned)i + 31};
		ring_append(r, &jobs[i]);
	}
}

/* The number of neighbours in the ring that no longer follow each other. */
static int ring_disorder(const struct ring *r)
{
	unsigned at = r->head;
	int broken = 0;
	int previous = -1;

	for (int i = 0; i < JOBS; i++, at = (at + 1) % SLOTS) {
		int number = r->slot[at] ? r->slot[at]->number : -1;

		if (previous >= 0 && number != (previous + 1) % JOBS) {
			fprintf(stderr, "job %d follows job %d\n", number, previous);
			broken++;
		}
		previous = number;
	}
	return broken;
}

int main(void)
{
	struct runner runners[RUNNERS] = {0};
	uint32_t steps = 0;

	ring_fill(&ring);
	for (unsigned i = 0; i < RUNNERS; i++) {
		runners[i].id = i + 1;
		if (pthread_create(&runners[i].thread, NULL, runner_main, &runners[i]) != 0)
			return 2;
	}
	for (unsigned i = 0; i < RUNNERS; i++) {
		pthread_join(runners[i].thread, NULL);
		steps += runners[i].steps;
	}
	printf("%u turns, %u steps\n", ring.taken, steps);
	if (ring_disorder(&ring) != 0)
		return 1;
	printf("next job is %d\n", ring.slot[ring.head]->number);
	return 0;
}
