/* Two faults that have nothing to do with each other: an update without a lock, and a
 * buffer that may be used before it is there. Each is seen by an end of its own. */
#include <pthread.h>
#include <stdlib.h>

static volatile int count;
static int *volatile buffer;
static int cell;

static void *work(void *unused)
{
	int seen = count; /* look */
	count = seen + 1; /* change */
	return unused;
}

static void *use(void *unused)
{
	int *mine = buffer; /* use */
	if (!mine)
		abort();
	*mine = 1;
	return unused;
}

int main(void)
{
	pthread_t a, b, c;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_create(&c, NULL, use, NULL);
	buffer = &cell; /* give */
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	return count != 2;
}
