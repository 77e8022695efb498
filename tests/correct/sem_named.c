/* Named semaphores: creating, finding, forgetting, and that two names for one are one.
 * may be named: process numbers */
#include "check.h"

#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

static char name[64];
static int value;

static void *waiter(void *none)
{
	sem_t *mine = sem_open(name, 0);
	CHECK(mine != SEM_FAILED);
	EQUAL(sem_wait(mine), 0);
	value++;
	EQUAL(sem_post(mine), 0);
	EQUAL(sem_close(mine), 0);
	return none;
}

int main(void)
{
	int count;
	snprintf(name, sizeof name, "/controlled-%d", (int)getpid());
	sem_unlink(name); /* an earlier process of this number may have been killed */
	errno = 0;
	CHECK(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
	sem_t *first = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	CHECK(first != SEM_FAILED);
	CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST);
	sem_t *second = sem_open(name, O_CREAT, 0600, 7);
	CHECK(second == first);
	EQUAL(sem_getvalue(second, &count), 0);
	EQUAL(count, 1);
	EQUAL(sem_trywait(second), 0);
	FAILS(sem_trywait(first), EAGAIN);
	pthread_t a = start(waiter, NULL), b = start(waiter, NULL);
	value++;
	EQUAL(sem_post(first), 0);
	finish(a);
	finish(b);
	EQUAL(sem_close(second), 0);
	EQUAL(sem_trywait(first), 0);
	EQUAL(sem_unlink(name), 0);
	FAILS(sem_unlink(name), ENOENT);
	EQUAL(sem_post(first), 0); /* still there for those who have it */
	EQUAL(sem_close(first), 0);
	printf("%d\n", value);
	return 0;
}
