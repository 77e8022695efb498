/* Two things with a lock each; two threads add one to both, in opposite order, under a lock that they
 * give back in between. Ends with 1 when an update was lost. */
#include <pthread.h>

static struct account {
	pthread_mutex_t lock;
	volatile int x;
} accounts[2] = { { PTHREAD_MUTEX_INITIALIZER, 0 }, { PTHREAD_MUTEX_INITIALIZER, 0 } };

static __attribute__((noinline)) void add(struct account *account)
{
	pthread_mutex_lock(&account->lock); /* door */
	int seen = account->x; /* look */
	pthread_mutex_unlock(&account->lock);
	pthread_mutex_lock(&account->lock); /* again */
	account->x = seen + 1; /* change */
	pthread_mutex_unlock(&account->lock);
}

static void *go(void *first)
{
	struct account *one = first;
	add(one);
	add(&accounts[one == &accounts[0]]);
	return first;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, go, &accounts[0]);
	pthread_create(&b, NULL, go, &accounts[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return accounts[0].x != 2 || accounts[1].x != 2;
}
