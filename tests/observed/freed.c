/* Memory that ended its life has no history: blocks, mappings, stacks and
 * thread-local variables that another thread gets next give no pair.
 * run: -> 0
 * no pair: block > *
 * no pair: * > block2
 * no pair: grown > *
 * no pair: shrunk > *
 * no pair: mapped > *
 * no pair: fixed > *
 * no pair: moved > *
 * no pair: local > *
 * no pair: private > *
 * no pair: deep > *
 * pair: kept > kept2
 * pair: stays > stays2
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *volatile where[8];
static unsigned reused;
static __thread volatile long private[4];
static volatile long kept;
static char *volatile stays;

static void use_stack(int depth)
{
	volatile char room[1024];
	char *volatile escaped = (char *)room;
	for (int i = 0; i < 1024; i += 64)
		escaped[i] = (char)depth; /* @local */
	if (depth)
		use_stack(depth - 1);
}

struct big {
	long words[40];
};

__attribute__((noinline)) static long deep(int depth, struct big by_value)
{
	volatile struct big *copy = &by_value;
	copy->words[depth % 40] = depth; /* @deep */
	long sum = copy->words[3]; /* @deep */
	return depth ? sum + deep(depth - 1, by_value) : sum;
}

static void *first(void *argument)
{
	volatile char *block = where[0] = malloc(24);
	for (int i = 0; i < 24; i++)
		block[i] = 1; /* @block */
	free((void *)block);
	volatile char *mapped = where[1] = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 1 << 16; i += 512)
		mapped[i] = 1; /* @mapped */
	munmap((void *)mapped, 1 << 16);
	volatile char *large = where[2] = malloc(1 << 20);
	for (int i = 0; i < 1 << 20; i += 4096)
		large[i] = 1; /* @block */
	free((void *)large);
	volatile long *growing = malloc(64);
	growing[1] = 4; /* @grown */
	where[3] = (char *)growing;
	where[4] = realloc((void *)growing, 100000);
	volatile char *shrinking = where[5] = malloc(8000);
	shrinking[4000] = 1; /* @shrunk */
	where[5] = realloc((void *)shrinking, 64);
	stays = malloc(64);
	stays[8] = 1; /* @stays */
	volatile char *fixed = where[6];
	fixed[100] = 1; /* @fixed */
	mmap((void *)fixed, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	volatile char *moved = where[7];
	moved[200] = 1; /* @moved */
	mremap((void *)moved, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, moved + 32768);
	mmap((void *)moved, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	use_stack(4);
	struct big big = {{0}};
	deep(1500, big);
	private[2]++; /* @private */
	kept = 1;     /* @kept */
	return argument;
}

static void *second(void *argument)
{
	volatile char *block = malloc(24);
	reused += (char *)block == where[0];
	for (int i = 0; i < 24; i++)
		block[i]++; /* @block2 */
	free((void *)block);
	volatile char *mapped = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 1 << 16; i += 512)
		mapped[i]++;
	munmap((void *)mapped, 1 << 16);
	volatile char *large = malloc(1 << 20);
	for (int i = 0; i < 1 << 20; i += 4096)
		large[i]++;
	free((void *)large);
	volatile long *small = malloc(64);
	small[1]++;
	volatile char *tail = malloc(7000);
	for (int i = 0; i < 7000; i++)
		tail[i]++;
	char *same = realloc((char *)stays, 72);
	((volatile char *)same)[8]++; /* @stays2 */
	where[6][100]++;
	where[7][200]++;
	use_stack(4);
	struct big big = {{0}};
	deep(1500, big);
	private[2]++; /* @private */
	kept++;       /* @kept2 */
	return argument;
}

int main(void)
{
	pthread_t thread;
	where[6] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	where[7] = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_create(&thread, NULL, first, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, second, NULL);
	pthread_join(thread, NULL);
	printf("kept %ld, private %ld\n", kept, private[2]);
	return 0;
}
