/* Two threads change a number under one lock and tell a log of it under another, by the same
 * lines. Ends with 1 when the log has them in another order than they came. */
#include <pthread.h>

static volatile int number, used;
static int changed, entry[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, log_mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void note(int what)
{
	pthread_mutex_lock(&log_mutex); /* door of the log */
	int at = used;                  /* look */
	entry[at] = what;
	used = at + 1; /* log */
	pthread_mutex_unlock(&log_mutex);
}

static void *put(void *unused)
{
	pthread_mutex_lock(&mutex);
	number = 1; /* put */
	changed = 1;
	pthread_mutex_unlock(&mutex);
	note(1);
	return unused;
}

static void *clear(void *unused)
{
	pthread_mutex_lock(&mutex);
	number = 0; /* clear */
	changed = 2;
	pthread_mutex_unlock(&mutex);
	note(2);
	return unused;
}

int main(void)
{
	pthread_t p, c;
	pthread_create(&p, NULL, put, NULL);
	pthread_create(&c, NULL, clear, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	return entry[1] != changed;
}
