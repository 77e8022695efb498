/* Mixed sizes: neighbours are never confused, overlaps are seen byte by byte.
 * run: -> 0
 * no pair: left > right
 * no pair: right > left
 * no pair: char0 > char1
 * no pair: char1 > char0
 * no pair: bit > *
 * no pair: apart > *
 * no pair: inside > apart
 * pair: low > both
 * pair: high > both
 * pair: inside > across
 * pair: wide > narrow
 * pair: vector > lane
 * pair: third > triple
 * no pair: triple > fourth
 * threads: 3
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile int ints[2] __attribute__((aligned(8)));
static volatile char chars[2] __attribute__((aligned(8)));
static volatile short shorts[4] __attribute__((aligned(8)));
static volatile union { uint32_t half[2]; uint64_t whole; } mixed;
static volatile uint64_t large;
static volatile unsigned char bytes[16] __attribute__((aligned(8)));
static char text[8] __attribute__((aligned(8)));
typedef long lanes __attribute__((vector_size(32)));
static volatile lanes vector;
static pthread_barrier_t turn;

typedef volatile uint32_t packed __attribute__((aligned(1)));

static uint32_t unaligned(const volatile void *from)
{
	return *(const packed *)from; /* @across */
}

static void *first(void *argument)
{
	for (int i = 0; i < 100; i++) {
		ints[0] = i;   /* @left */
		chars[0] = 'a'; /* @char0 */
	}
	shorts[1] = 3;           /* @bit */
	mixed.half[0] = 1;       /* @low */
	bytes[5] = 7;            /* @inside */
	bytes[10] = 9;           /* @apart */
	large = 0x0102030405ull; /* @wide */
	vector = (lanes){1, 2, 3, 4}; /* @vector */
	text[2] = 'x';           /* @third */
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	return argument;
}

static void *second(void *argument)
{
	for (int i = 0; i < 100; i++) {
		ints[1] = i;   /* @right */
		chars[1] = 'b'; /* @char1 */
	}
	mixed.half[1] = 2; /* @high */
	pthread_barrier_wait(&turn);
	char copy[3];
	memcpy(copy, text, 3); /* @triple */
	unsigned sum = ((volatile unsigned char *)&large)[3]; /* @narrow */
	sum += (unsigned)((volatile long *)&vector)[2];       /* @lane */
	sum += unaligned(bytes + 3) + (unsigned)copy[2];
	sum += (unsigned)shorts[0] + (unsigned)shorts[2];
	pthread_barrier_wait(&turn);
	return sum == 0x42 ? NULL : argument;
}

int main(void)
{
	pthread_t threads[2];
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	uint64_t sum = mixed.whole; /* @both */
	((volatile char *)text)[3] = 'y'; /* @fourth */
	printf("%llx %d %d\n", (unsigned long long)sum, ints[0] + ints[1], chars[0] + chars[1]);
	return 0;
}
