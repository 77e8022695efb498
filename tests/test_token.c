/* The token changes hands (loom/runtime/control/token.c) among threads that do nothing but
 * pass it on. What they share is plain memory: built with ThreadSanitizer, which sees
 * no other synchronisation than the token's, this shows that a hand-over orders all
 * that the last holder did before all that the next one does. With `carry` threads run
 * on each other's kernel threads, which ThreadSanitizer does not understand; then what
 * belongs to a thread must stay with it: its thread-local memory, its stack, registers.
 *
 * test_token THREADS ROUNDS [carry] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "loom/runtime/control/control.h"

#include "loom/runtime/process/system.c"
#include "loom/runtime/control/token.c"

#define THREADS_MOST 64u

struct control control;
struct runtime runtime;
static struct agent agents[THREADS_MOST + 1];
static struct thread *threads[THREADS_MOST + 1]; /* each with the place below where its kernel thread rests */
static uint32_t nthreads, nlive;
static uint64_t rounds, passed, kernel_threads; /* what the holder of the token touches */
static __thread uint64_t mine;

void *runtime_map(uint64_t at, size_t size)
{
	return mmap((void *)at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
}

char control_state_of(int tid)
{
	(void)tid;
	return 0;
}

void control_watch(uint64_t *points)
{
	(void)points;
}

void control_uncontrolled(const char *what)
{
	fprintf(stderr, "%s\n", what);
}

static void demand(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "not so: %s\n", what);
	_Exit(1);
}

static struct agent *draw(const struct agent *but)
{
	static uint64_t state = 1;
	struct agent *found;
	do {
		state = state * 6364136223846793005u + 1442695040888963407u;
		found = &agents[(state >> 33) % (nthreads + 1)];
	} while (found == but || found->state == AGENT_ENDED);
	return found;
}

/* Everything that a switch must bring back. */
static void pass_on(struct agent *me)
{
	volatile uint64_t on_stack[8];
	uint64_t in_registers = mine * 3 + me->number;
	double floating = (double)mine / 2;
	for (int i = 0; i < 8; i++)
		on_stack[i] = mine + (uint64_t)i;
	uint64_t before = mine;
	token_give(me, draw(me));
	demand(mine == before && unsnarl_self == me->thread, "thread-local memory is the thread's own");
	for (int i = 0; i < 8; i++)
		demand(on_stack[i] == mine + (uint64_t)i, "the stack is as it was");
	demand(in_registers == mine * 3 + me->number && floating == (double)mine / 2,
	       "registers are as they were");
	demand(control.current == me, "who goes on has the token");
}

__thread struct thread *unsnarl_self;

static void work(struct agent *me)
{
	while (passed < rounds) {
		passed++;
		mine++;
		me->streak++; /* plain, too: each agent's own */
		if (nlive > 1)
			pass_on(me);
		if (passed % 97 == 0)
			token_go_home(me);
	}
}

static void *begin(void *argument)
{
	struct agent *me = argument;
	token_begin(me);
	me->tid = (int)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	unsnarl_self = me->thread;
	work(me);
	token_go_home(me);
	demand(raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0) == me->tid, "threads end where they began");
	kernel_threads++;
	me->state = AGENT_ENDED;
	nlive--;
	control.leaving = me->tid;
	token_leave(draw(me));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[THREADS_MOST + 1];
	demand(argc >= 3, "usage: test_token THREADS ROUNDS [carry]");
	nthreads = (uint32_t)atoi(argv[1]) % (THREADS_MOST + 1);
	rounds = strtoull(argv[2], NULL, 10);
	control.options.carry = argc > 3 && strcmp(argv[3], "carry") == 0;
	control.pid = (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	for (uint32_t i = 0; i <= nthreads; i++) {
		threads[i] = (struct thread *)calloc(2, sizeof **threads) + 1;
		threads[i]->slot = i + 1;
		agents[i] = (struct agent){ .thread = threads[i], .number = i, .state = AGENT_READY };
	}
	nlive = nthreads + 1;
	unsnarl_self = threads[0];
	control.current = &agents[0];
	token_start(&agents[0]);
	for (uint32_t i = 1; i <= nthreads; i++)
		pthread_create(&ids[i], NULL, begin, &agents[i]);
	work(&agents[0]);
	while (nlive > 1) /* those that have not begun or not ended */
		token_give(&agents[0], draw(&agents[0]));
	for (uint32_t i = 1; i <= nthreads; i++)
		pthread_join(ids[i], NULL);
	uint64_t sum = 0;
	for (uint32_t i = 0; i <= nthreads; i++)
		sum += agents[i].streak;
	demand(sum == passed && passed >= rounds, "every round was somebody's");
	demand(kernel_threads == nthreads, "every thread has ended");
	printf("%llu rounds, carried: %s\n", (unsigned long long)passed, control.carries ? "yes" : "no");
	return 0;
}
