/* A program with an allocator of its own in libc's place: blocks lie side by side, and a
 * freed one is read when it is given out again. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static _Alignas(16) char memory[1 << 22];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *last_freed;

void *malloc(size_t size)
{
	pthread_mutex_lock(&lock);
	size_t *block = last_freed && *((size_t *)last_freed - 2) >= size ? last_freed : NULL;
	if (block) {
		last_freed = NULL;
	} else {
		block = (size_t *)(void *)(memory + used) + 2;
		block[-2] = size;
		used += (size + 31) & ~(size_t)15;
	}
	pthread_mutex_unlock(&lock);
	return block;
}

void free(void *block)
{
	pthread_mutex_lock(&lock);
	if (block)
		last_freed = block;
	pthread_mutex_unlock(&lock);
}

void *calloc(size_t n, size_t size)
{
	return memset(malloc(n * size), 0, n * size);
}

void *realloc(void *block, size_t size)
{
	void *moved = malloc(size);
	if (block)
		memcpy(moved, block, ((size_t *)block)[-2] < size ? ((size_t *)block)[-2] : size);
	free(block);
	return moved;
}

static void *work(void *argument)
{
	for (int i = 0; i < 20; i++) {
		char *block = malloc((size_t)i + 1);
		memset(block, i, (size_t)i + 1);
		block = realloc(block, 60);
		block[59] = 1;
		free(block);
	}
	return argument;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
