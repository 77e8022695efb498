/* Pages are protected and a handler of SIGSEGV opens them at the first write, while other threads work. */
#include "check.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 4

static char *memory;
static long size;
static int faults;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	char *page = memory + ((char *)info->si_addr - memory) / size * size;
	if ((char *)info->si_addr < memory || page >= memory + PAGES * size)
		_exit(3);
	mprotect(page, (size_t)size, PROT_READ | PROT_WRITE);
	__atomic_fetch_add(&faults, 1, __ATOMIC_SEQ_CST);
}

static void *writer(void *argument)
{
	long me = (long)argument;
	for (int i = 0; i < PAGES; i++)
		__atomic_fetch_add(&memory[i * size + me], 1, __ATOMIC_SEQ_CST);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	size = sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, (size_t)size * PAGES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
	pthread_t a = start(writer, (void *)0), b = start(writer, (void *)1);
	finish(a), finish(b);
	int sum = 0;
	for (int i = 0; i < PAGES; i++)
		sum += memory[i * size] + memory[i * size + 1];
	CHECK(faults >= PAGES);
	printf("%d\n", sum);
	return 0;
}
