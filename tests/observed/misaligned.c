/* A pointer cast that promises an alignment it does not have, as x86 code often
 * does: the bytes count, not the promise.
 * run: -> 0
 * pair: byte > across
 * pair: byte > across8
 * no pair: apart > *
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static volatile unsigned char bytes[32] __attribute__((aligned(8)));

static void *first(void *argument)
{
	bytes[5] = 7;  /* @byte */
	bytes[1] = 3;  /* @apart */
	bytes[17] = 3; /* @byte */
	return argument;
}

static void *second(void *argument)
{
	volatile unsigned char *from = bytes + 3;
	uint64_t sum = *(volatile uint32_t *)from; /* @across */
	sum += *(volatile uint64_t *)(from + 8);   /* @across8 */
	printf("%llx\n", (unsigned long long)sum);
	return argument;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, first, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, second, NULL);
	pthread_join(thread, NULL);
	return 0;
}
