/* Two locks in two orders; the second one is taken several times while the first is held. */
#include <pthread.h>

static pthread_mutex_t page = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static int pages, entries;

static void *write_page(void *unused)
{
	pthread_mutex_lock(&page); /* page first */
	pages++;
	pthread_mutex_lock(&log_lock); /* then log */
	entries++;
	pthread_mutex_unlock(&log_lock);
	pthread_mutex_unlock(&page);
	return unused;
}

static void *sweep(void *unused)
{
	pthread_mutex_lock(&log_lock); /* log first */
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&page); /* then page */
		entries -= pages > 0;
		pthread_mutex_unlock(&page);
	}
	pthread_mutex_unlock(&log_lock);
	return unused;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, write_page, NULL);
	pthread_create(&b, NULL, sweep, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
