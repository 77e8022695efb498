/* Two ways to wait for ever. As it is: the flag is looked at without the lock, and the signal may come before the
 * wait. With -DKEEPS: the look is right, but the waiter keeps a lock that the other one needs, and an earlier
 * signal, which nobody waited for, has nothing to do with it. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, list = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int left = 2;

static void *work(void *unused)
{
	for (int i = 0; i < 2; i++) {
#ifdef KEEPS
		pthread_mutex_lock(&list); /* wanted */
		pthread_mutex_unlock(&list);
#endif
		pthread_mutex_lock(&lock);
		left--;
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&changed); /* signal */
	}
	return unused;
}

int main(void)
{
	pthread_t a;
	pthread_create(&a, NULL, work, NULL);
#ifdef KEEPS
	pthread_mutex_lock(&list); /* kept */
	pthread_mutex_lock(&lock);
	while (left)
		pthread_cond_wait(&changed, &lock); /* wait */
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&list);
#else
	while (left) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&changed, &lock); /* wait */
		pthread_mutex_unlock(&lock);
	}
#endif
	pthread_join(a, NULL);
	return 0;
}
