/* Locks made by hand: ticket lock, queue lock (MCS), a lock of compare and swap with back-off, a seqlock. */
#include "check.h"

#include <sched.h>
#include <stdatomic.h>

static atomic_uint next_ticket, now_serving;
static int by_ticket, by_queue, by_swap;
static atomic_int taken;
struct node {
	_Atomic(struct node *) next;
	atomic_int wait;
};
static _Atomic(struct node *) tail;
static atomic_uint version;
static atomic_int pair[2];

static void *worker(void *argument)
{
	for (int i = 0; i < 3; i++) {
		unsigned mine = atomic_fetch_add(&next_ticket, 1);
		while (atomic_load(&now_serving) != mine)
			;
		by_ticket++;
		atomic_store(&now_serving, mine + 1);

		struct node me = { NULL, 1 };
		struct node *before = atomic_exchange(&tail, &me);
		if (before) {
			atomic_store(&before->next, &me);
			while (atomic_load(&me.wait))
				;
		}
		by_queue++;
		struct node *self = &me;
		if (!atomic_load(&me.next) && atomic_compare_exchange_strong(&tail, &self, NULL))
			goto swap;
		while (!atomic_load(&me.next))
			;
		atomic_store(&atomic_load(&me.next)->wait, 0);
	swap:;
		int expected = 0, delay = 1;
		while (!atomic_compare_exchange_weak(&taken, &expected, 1)) {
			expected = 0;
			for (int d = 0; d < delay; d++)
				sched_yield();
			delay = delay < 16 ? delay * 2 : 16;
		}
		by_swap++;
		unsigned v = atomic_load(&version);
		atomic_store(&version, v + 1);
		atomic_store(&pair[0], by_swap);
		atomic_store(&pair[1], by_swap);
		atomic_store(&version, v + 2);
		atomic_store(&taken, 0);
		unsigned a, b;
		int x, y;
		do {
			a = atomic_load(&version);
			x = atomic_load(&pair[0]);
			y = atomic_load(&pair[1]);
			b = atomic_load(&version);
		} while (a != b || a & 1);
		EQUAL(x, y);
	}
	return argument;
}

int main(void)
{
	pthread_t a = start(worker, NULL), b = start(worker, NULL), c = start(worker, NULL);
	finish(a), finish(b), finish(c);
	printf("%d %d %d\n", by_ticket, by_queue, by_swap);
	return 0;
}
