/* Memory made by one thread and released by another, over a hand-over place. */
#include "check.h"

#include <sched.h>

static char *place;

static void *give(void *none)
{
	for (int i = 0; i < 4; i++) {
		char *text = strdup("text");
		text = realloc(text, 32 + (size_t)i * 100);
		strcat(text, "s");
		char *empty = NULL;
		while (!__atomic_compare_exchange_n(&place, &empty, text, 0, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED)) {
			empty = NULL;
			sched_yield();
		}
	}
	return none;
}

int main(void)
{
	int n = 0;
	pthread_t a = start(give, NULL);
	while (n < 4) {
		char *text = __atomic_exchange_n(&place, NULL, __ATOMIC_ACQ_REL);
		if (!text) {
			sched_yield();
			continue;
		}
		EQUAL(strcmp(text, "texts"), 0);
		free(text);
		n++;
	}
	finish(a);
	printf("%d\n", n);
	return 0;
}
