/* Two variables that belong together, changed in two sections of one lock: who reads both between them dies, so that the
 * failing run never comes to the second section. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int servers, weight;

static void *bring_up(void *unused)
{
	pthread_mutex_lock(&lock);
	servers = 1; /* first */
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	weight = 10; /* second */
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, bring_up, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		if (servers && !weight)
			abort();
		pthread_mutex_unlock(&lock);
	}
	pthread_join(thread, NULL);
	return 0;
}
