/* Threads with an alternate stack for signals; handlers jump out of a fault with siglongjmp. */
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static __thread sigjmp_buf out;
static int recovered;

static void on_fault(int number)
{
	siglongjmp(out, number);
}

static void *worker(void *bad)
{
	stack_t stack = { .ss_sp = malloc(64 << 10), .ss_size = 64 << 10 };
	EQUAL(sigaltstack(&stack, NULL), 0);
	for (int i = 0; i < 3; i++) {
		if (!sigsetjmp(out, 1)) {
			*(volatile char *)bad = 1;
			abort();
		}
		__atomic_fetch_add(&recovered, 1, __ATOMIC_SEQ_CST);
	}
	stack.ss_flags = SS_DISABLE;
	EQUAL(sigaltstack(&stack, NULL), 0);
	free(stack.ss_sp);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
	pthread_t a = start(worker, bad), b = start(worker, bad);
	finish(a), finish(b);
	printf("%d\n", recovered);
	return 0;
}
