/* A transfer between two of three accounts, each with its own lock, while another thread adds them all
 * up. Ends with 1 when the sum is wrong. */
#include <pthread.h>

static struct account {
	pthread_mutex_t lock;
	volatile int money;
} accounts[3] = { { PTHREAD_MUTEX_INITIALIZER, 5 },
		  { PTHREAD_MUTEX_INITIALIZER, 5 },
		  { PTHREAD_MUTEX_INITIALIZER, 5 } };
static int wrong;

static void *transfer(void *unused)
{
	pthread_mutex_lock(&accounts[1].lock); /* door of the giver */
	accounts[1].money = 4; /* take */
	pthread_mutex_unlock(&accounts[1].lock);
	pthread_mutex_lock(&accounts[2].lock);
	accounts[2].money = 6; /* give */
	pthread_mutex_unlock(&accounts[2].lock);
	return unused;
}

static void *add_up(void *unused)
{
	int sum = 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&accounts[i].lock); /* door */
		sum += accounts[i].money; /* look */
		pthread_mutex_unlock(&accounts[i].lock);
	}
	wrong = sum != 15;
	return unused;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, transfer, NULL);
	pthread_create(&b, NULL, add_up, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return wrong;
}
