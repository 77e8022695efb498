/* Each thread runs fibers of its own with makecontext and swapcontext; fibers take locks and wait. */
#include "check.h"

#include <ucontext.h>

#define FIBERS 3
#define STACK (64 << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

struct fibers {
	ucontext_t main, each[FIBERS];
	int current, left;
	char *stacks[FIBERS];
};

static __thread struct fibers *mine;

static void yield_(void)
{
	struct fibers *f = mine;
	swapcontext(&f->each[f->current], &f->main);
}

static void body(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
		yield_();
	}
	mine->left--;
}

static void *runner(void *none)
{
	static __thread struct fibers f;
	mine = &f;
	f.left = FIBERS;
	for (int i = 0; i < FIBERS; i++) {
		f.stacks[i] = malloc(STACK);
		getcontext(&f.each[i]);
		f.each[i].uc_stack.ss_sp = f.stacks[i];
		f.each[i].uc_stack.ss_size = STACK;
		f.each[i].uc_link = &f.main;
		makecontext(&f.each[i], body, 0);
	}
	for (int round = 0; round < 4; round++)
		for (f.current = 0; f.current < FIBERS; f.current++)
			swapcontext(&f.main, &f.each[f.current]);
	EQUAL(f.left, 0);
	for (int i = 0; i < FIBERS; i++)
		free(f.stacks[i]);
	return none;
}

int main(void)
{
	pthread_t a = start(runner, NULL), b = start(runner, NULL);
	finish(a), finish(b);
	printf("%d\n", total);
	return 0;
}
