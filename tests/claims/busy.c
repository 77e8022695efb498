/* Works on longer than anybody has patience for: two threads count to a million together. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
	for (int so_far = 0; so_far < 1000000;) {
		pthread_mutex_lock(&lock);
		so_far = ++count;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t other;
	pthread_create(&other, NULL, work, NULL);
	work(NULL);
	pthread_join(other, NULL);
	return 0;
}
