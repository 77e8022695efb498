/* Jumps out of frames, out of signal handlers and out of faulting accesses.
 * run: -> 0
 * pair: deep > after
 * pair: fault > seen
 * pair: ticking > stopped
 * may drop
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile int value, faults, jumps, shared[64];
static volatile char bytes[64];
static __thread sigjmp_buf back;

__attribute__((noinline)) static void dive(int depth, jmp_buf out)
{
	value = depth; /* @deep */
	if (depth == 50)
		longjmp(out, depth);
	dive(depth + 1, out);
}

static void *across_frames(void *argument)
{
	jmp_buf out;
	if (setjmp(out) == 0)
		dive(0, out);
	return argument;
}

static void on_fault(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void *faulting(void *argument)
{
	static char *volatile nowhere;
	for (volatile int i = 0; i < 1000; i++) {
		if (sigsetjmp(back, 1) == 0) {
			if (i % 3 == 0)
				*(volatile int *)nowhere = 1;
			else if (i % 3 == 1)
				value += (int)strlen(nowhere);
			else
				memset(nowhere, 0, (size_t)i);
		}
		faults++; /* @fault */
	}
	return argument;
}

static void *ticking(void *argument)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	if (sigsetjmp(back, 1) == 0)
		setitimer(ITIMER_REAL, &often, NULL);
	if (++jumps < 1000) /* @ticking */
		for (unsigned i = 0;; i++) {
			bytes[i % 64]++;
			shared[i % 64] = (int)i;
		}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	return argument;
}

static void *disturbing(void *argument)
{
	while (jumps < 1000)
		for (int i = 0; i < 64; i++) {
			bytes[i]++;
			shared[i]++;
		}
	return argument;
}

int main(void)
{
	pthread_t thread, other;
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	signal(SIGSEGV, on_fault);
	signal(SIGALRM, on_fault);
	pthread_create(&thread, NULL, across_frames, NULL);
	pthread_join(thread, NULL);
	int depth = value; /* @after */
	pthread_create(&thread, NULL, faulting, NULL);
	pthread_join(thread, NULL);
	int seen = faults; /* @seen */
	pthread_create(&other, NULL, disturbing, NULL);
	pthread_create(&thread, NULL, ticking, NULL);
	pthread_join(thread, NULL);
	int stopped = jumps; /* @stopped */
	pthread_join(other, NULL);
	printf("%d %d %d\n", depth, seen, stopped);
	return 0;
}
