/* A program with an allocator of its own behind a mutex; libc uses it, too, when threads begin and end,
 * when they are no longer under control, which may be named. */
#include "check.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define BLOCKS 4096
#define BLOCK 2048

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) char memory[BLOCKS][BLOCK];
static size_t lengths[BLOCKS];

static size_t blocks_of(size_t size)
{
	return size ? (size + BLOCK - 1) / BLOCK : 1;
}

void *malloc(size_t size)
{
	size_t wanted = blocks_of(size);
	void *found = NULL;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i + wanted <= BLOCKS && !found;) {
		size_t free = 0;
		while (free < wanted && !lengths[i + free])
			free++;
		if (free == wanted) {
			for (size_t k = 0; k < wanted; k++)
				lengths[i + k] = 1;
			lengths[i] = wanted;
			found = memory[i];
		}
		i += free + 1;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void free(void *block)
{
	if (!block)
		return;
	size_t at = (size_t)((char(*)[BLOCK])block - memory);
	pthread_mutex_lock(&lock);
	for (size_t n = lengths[at], k = 0; k < n; k++)
		lengths[at + k] = 0;
	pthread_mutex_unlock(&lock);
}

void *calloc(size_t n, size_t size)
{
	void *block = malloc(n * size);
	return block ? memset(block, 0, n * size) : NULL;
}

void *realloc(void *block, size_t size)
{
	void *fresh = malloc(size);
	if (block && fresh) {
		size_t old = lengths[(char(*)[BLOCK])block - memory] * BLOCK;
		memcpy(fresh, block, old < size ? old : size);
		free(block);
	}
	return fresh;
}

void *memalign(size_t alignment, size_t size)
{
	return alignment <= 64 ? malloc(size) : NULL;
}

int posix_memalign(void **to, size_t alignment, size_t size)
{
	*to = memalign(alignment, size);
	return *to ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

size_t malloc_usable_size(void *block)
{
	return block ? lengths[(char(*)[BLOCK])block - memory] * BLOCK : 0;
}

static pthread_key_t key;

static void *user(void *none)
{
	pthread_setspecific(key, malloc(10));
	for (int i = 0; i < 5; i++) {
		int *number = malloc(sizeof *number);
		*number = i;
		EQUAL(*number, i);
		free(number);
	}
	return none;
}

int main(void)
{
	EQUAL(pthread_key_create(&key, free), 0);
	for (int round = 0; round < 2; round++) {
		pthread_t threads[3];
		for (int i = 0; i < 3; i++)
			threads[i] = start(user, NULL);
		for (int i = 0; i < 3; i++)
			finish(threads[i]);
	}
	printf("freed\n");
	return 0;
}
