/* C11's own threads.
 * run: -> 0
 * pair: add > add
 * pair: add > get
 * threads: 3
 */
#include <stdio.h>
#include <threads.h>

static volatile int sum;
static mtx_t lock;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;

static void begin(void)
{
	mtx_init(&lock, mtx_plain);
}

static int work(void *argument)
{
	call_once(&once, begin);
	tss_set(key, argument);
	mtx_lock(&lock);
	sum += (int)(size_t)argument; /* @add */
	mtx_unlock(&lock);
	return 3;
}

int main(void)
{
	thrd_t threads[2];
	int results[2];
	tss_create(&key, NULL);
	for (size_t i = 0; i < 2; i++)
		thrd_create(&threads[i], work, (void *)(i + 1));
	for (size_t i = 0; i < 2; i++)
		thrd_join(threads[i], &results[i]);
	printf("%d %d\n", sum, results[0] + results[1]); /* @get */
	return 0;
}
