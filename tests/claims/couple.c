/* Two variables that belong together, written in two critical sections, read in one.
 * Ends with 1 when the reader saw only one of them. */
#include <pthread.h>

static volatile int a, b;
static int torn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *write_both(void *unused)
{
	pthread_mutex_lock(&mutex); /* door of the writer */
	a = 1;                      /* first */
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	b = 1; /* second */
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *read_both(void *unused)
{
	pthread_mutex_lock(&mutex); /* door of the reader */
	int x = a;                  /* see first */
	int y = b;                  /* see second */
	pthread_mutex_unlock(&mutex);
	torn = x != y;
	return unused;
}

int main(void)
{
	pthread_t w, r;
	pthread_create(&w, NULL, write_both, NULL);
	pthread_create(&r, NULL, read_both, NULL);
	pthread_join(w, NULL);
	pthread_join(r, NULL);
	return torn;
}
