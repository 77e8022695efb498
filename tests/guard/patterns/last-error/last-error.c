/* A W-R | W atomicity violation: a failing call leaves its code in one variable for all
 * threads, and its caller reads it there afterwards. */
#include <pthread.h>
#include <stdio.h>

#include "../pause.h"

static volatile int last_error;

static unsigned work(unsigned state, int steps)
{
	for (int i = 0; i < steps; i++)
		state = (state ^ (state >> 15)) * 2246822519u + 3;
	return state;
}

static void fail(int code)
{
	last_error = code; PAUSE(6);
}

static void *caller_main(void *arg)
{
	int *own = arg, code = *own, wrong = 0;

	work(1, code == 1 ? 1000 : 900000);
	for (int i = 0; i < 2; i++) {
		fail(code);
		wrong += last_error != code;
	}
	*own = wrong;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int codes[2] = { 1, 2 };

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, caller_main, &codes[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d wrong\n", codes[0] + codes[1]);
	return codes[0] + codes[1] != 0;
}
