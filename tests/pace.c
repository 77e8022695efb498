/* The yardstick does what the analyses do: it takes fresh memory, fills a table that is
 * larger than the inner caches by hash, in random order, and sorts.
 */
#include "tests/pace.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define SLOTS (1u << 21) /* 16 MiB */
#define KEYS (1u << 20)
#define SORTED (1u << 17)
/* CPU time of the yardstick on a calm machine with 1 MiB of level 2 cache. */
#define NOMINAL_S 0.036
#define MOST_SLOWNESS 4.0
#define ATTEMPTS 5

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

double pace_cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Returns how many slots the keys took, so that nothing of it can be left out. */
static size_t work(uint64_t *slots)
{
	uint64_t key = 1;
	size_t used = 0;

	for (size_t i = 0; i < KEYS; i++) {
		key = key * 6364136223846793005u + 1442695040888963407u;
		size_t at = (key >> 40) % SLOTS;

		while (slots[at] && slots[at] != key)
			at = (at + 1) % SLOTS;
		used += !slots[at];
		slots[at] = key;
	}
	qsort(slots, SORTED, sizeof *slots, compare);
	for (size_t i = 1; i < SORTED; i++)
		used += slots[i - 1] > slots[i];
	return used;
}

static double yardstick(void)
{
	double begun = pace_cpu();
	uint64_t *slots =
		mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slots == MAP_FAILED || work(slots) != KEYS)
		abort();
	munmap(slots, SLOTS * sizeof *slots);
	return pace_cpu() - begun;
}

/* How many times as long as on a calm machine it takes just now. */
static double slowness_now(void)
{
	double times = yardstick() / NOMINAL_S;

	return times < 1 ? 1 : times > MOST_SLOWNESS ? MOST_SLOWNESS : times;
}

bool pace_is_below(double most, pace_work *attempt, void *data)
{
	double best = -1;

	if (SANITIZED) {
		attempt(data);
		return true;
	}
	for (int i = 0; i < ATTEMPTS && (best < 0 || best >= most); i++) {
		double before = slowness_now(), took = attempt(data);
		double slowness = (before + slowness_now()) / 2;

		printf("%.3f s on a machine %.2f times as slow as a calm one: %.3f s, to be below %.3f s\n",
		       took, slowness, took / slowness, most);
		if (best < 0 || took / slowness < best)
			best = took / slowness;
	}
	return best < most;
}
