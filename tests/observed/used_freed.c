/* A freed block keeps its history until it is given out again, and who frees it
 * writes to it: a use after that makes pairs with the freeing and, beyond what the
 * freeing marks, with the last write. The next owner inherits nothing.
 * run: -> 0
 * pair: freed > used
 * pair: far > far_used
 * no pair: freed > fresh
 * no pair: set > fresh
 * no pair: used > fresh
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct object {
	long pad[4], first, more[200], last;
};

static struct object *volatile shared;
static volatile long sum;

static void *one(void *argument)
{
	struct object *o = malloc(sizeof *o);
	shared = o;
	((volatile struct object *)o)->first = 1; /* @set */
	((volatile struct object *)o)->last = 2;  /* @far */
	free(o);				  /* @freed */
	return argument;
}

static void *two(void *argument)
{
	volatile struct object *o = shared;
	sum += o->first; /* @used */
	sum += o->last;	 /* @far_used */
	return argument;
}

static void *three(void *argument)
{
	volatile struct object *o = malloc(sizeof *o);
	for (int i = 0; i < 4; i++)
		o->pad[i] = i; /* @fresh */
	o->first = 3;	       /* @fresh */
	o->last = 4;	       /* @fresh */
	free((void *)o);
	return argument;
}

int main(void)
{
	void *(*const parts[])(void *) = {one, two, three};

	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, parts[i], NULL);
		pthread_join(thread, NULL);
	}
	puts("done");
	return 0;
}
