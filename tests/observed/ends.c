/* However a run ends, what was observed before is there.
 * run: return -> 4
 * run: exit -> 5
 * run: thread-exit -> 6
 * run: _exit -> 7
 * run: quick_exit -> 8
 * run: abort -> SIGABRT
 * run: segv -> SIGSEGV
 * run: overflow -> SIGSEGV
 * run: trap -> SIGILL
 * run: kill -> SIGKILL
 * run: term -> SIGTERM
 * run: hang -> hung
 * run: spin -> hung
 * run: deaf -> hung
 * pair: put > get
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int value;
static pthread_barrier_t ready;

static void *work(void *argument)
{
	value = 5; /* @put */
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	if (strcmp(argument, "thread-exit") == 0)
		exit(6);
	for (;;)
		pause();
}

static int overflow(int depth)
{
	volatile char room[4096];
	room[depth % 4096] = 1;
	return overflow(depth + 1) + room[7];
}

static int end(const char *how)
{
	if (strcmp(how, "exit") == 0)
		exit(5);
	if (strcmp(how, "_exit") == 0)
		_exit(7);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(8);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*(volatile int *)8 = 1;
	if (strcmp(how, "overflow") == 0)
		return overflow(0);
	if (strcmp(how, "trap") == 0)
		__builtin_trap();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "term") == 0)
		raise(SIGTERM);
	if (strcmp(how, "deaf") == 0)
		for (int i = 1; i < 32; i++)
			signal(i, SIG_IGN);
	if (strcmp(how, "spin") == 0)
		for (;;)
			value++;
	if (strcmp(how, "return") != 0)
		for (;;)
			pause();
	return 4;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_barrier_init(&ready, NULL, 2);
	pthread_create(&thread, NULL, work, argc > 1 ? argv[1] : "return");
	pthread_barrier_wait(&ready);
	int got = value; /* @get */
	printf("%d\n", got);
	fflush(stdout);
	pthread_barrier_wait(&ready);
	return end(argc > 1 ? argv[1] : "return");
}
