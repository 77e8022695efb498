/* Long jumps between blocking calls, in threads of their own stack. */
#include "check.h"

#include <setjmp.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void deep(jmp_buf out, int depth)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	total++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	if (depth == 0)
		longjmp(out, 3);
	deep(out, depth - 1);
}

static void *jump(void *none)
{
	jmp_buf out;
	volatile int times = 0;
	int code = setjmp(out);
	if (code)
		EQUAL(code, 3);
	if (times++ < 3)
		deep(out, 2);
	return none;
}

int main(void)
{
	pthread_t a = start(jump, NULL), b = start(jump, NULL);
	finish(a);
	finish(b);
	printf("%d\n", total);
	return 0;
}
