/* Readers publish with plain atomics, the writer calls membarrier: epochs before memory is freed. */
#include "check.h"

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <sched.h>

struct thing {
	int a, b;
};
static _Atomic(struct thing *) current;
static atomic_int reading[2], stop;

static void *reader(void *argument)
{
	long me = (long)argument;
	while (!atomic_load(&stop)) {
		atomic_store(&reading[me], 1);
		struct thing *t = atomic_load(&current);
		EQUAL(t->a + 1, t->b);
		atomic_store(&reading[me], 0);
	}
	return NULL;
}

int main(void)
{
	struct thing *first = malloc(sizeof *first);
	*first = (struct thing){ 1, 2 };
	atomic_store(&current, first);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	pthread_t a = start(reader, (void *)0), b = start(reader, (void *)1);
	for (int i = 2; i < 8; i++) {
		struct thing *next = malloc(sizeof *next), *old;
		*next = (struct thing){ i, i + 1 };
		old = atomic_exchange(&current, next);
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		for (int k = 0; k < 2; k++)
			while (atomic_load(&reading[k]))
				sched_yield();
		old->a = old->b = -5;
		free(old);
	}
	atomic_store(&stop, 1);
	finish(a), finish(b);
	free(atomic_load(&current));
	printf("freed\n");
	return 0;
}
