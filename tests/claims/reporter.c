/* A reporter waits where the worker waits, for the end of all jobs. When it is woken for a job it only waits again. */
#include <stdio.h>
#include <threads.h>

#ifdef MENDED
#define cnd_signal cnd_broadcast
#endif

static mtx_t lock;
static cnd_t event, finished;
static int jobs, done, closed;

static int work(void *argument)
{
	(void)argument;
	mtx_lock(&lock);
	for (;;) {
		while (!jobs && !closed)
			cnd_wait(&event, &lock); /* worker */
		if (!jobs)
			break;
		jobs--;
		done++;
		cnd_signal(&finished);
	}
	mtx_unlock(&lock);
	return 0;
}

static int report(void *argument)
{
	(void)argument;
	mtx_lock(&lock);
	while (!closed)
		cnd_wait(&event, &lock); /* reporter */
	printf("%d done\n", done);
	mtx_unlock(&lock);
	return 0;
}

int main(void)
{
	thrd_t worker, reporter;

	mtx_init(&lock, mtx_plain);
	cnd_init(&event);
	cnd_init(&finished);
	thrd_create(&worker, work, NULL);
	thrd_create(&reporter, report, NULL);
	mtx_lock(&lock);
	jobs++;
	cnd_signal(&event); /* job */
	while (!done)
		cnd_wait(&finished, &lock);
	closed = 1;
	cnd_broadcast(&event);
	mtx_unlock(&lock);
	thrd_join(worker, NULL);
	thrd_join(reporter, NULL);
	return done != 1;
}
