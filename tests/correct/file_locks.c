/* Locks on files: two open descriptions of one file exclude each other, threads of one process as well. */
#include "check.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/locked-XXXXXX";
static int inside[2], sum[2]; /* of the two kinds of lock, which do not exclude each other */

static void enter(int kind)
{
	EQUAL(__atomic_add_fetch(&inside[kind], 1, __ATOMIC_SEQ_CST), 1);
	sum[kind]++;
	EQUAL(__atomic_sub_fetch(&inside[kind], 1, __ATOMIC_SEQ_CST), 0);
}

static void *worker(void *none)
{
	int fd = open(path, O_RDWR);
	CHECK(fd >= 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(flock(fd, LOCK_EX), 0);
		enter(0);
		EQUAL(flock(fd, LOCK_UN), 0);
	}
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	for (int i = 0; i < 2; i++) {
		whole.l_type = F_WRLCK;
		EQUAL(fcntl(fd, F_OFD_SETLKW, &whole), 0);
		enter(1);
		whole.l_type = F_UNLCK;
		EQUAL(fcntl(fd, F_OFD_SETLK, &whole), 0);
	}
	EQUAL(flock(fd, LOCK_EX), 0);
	EQUAL(close(fd), 0); /* gives it back */
	return none;
}

int main(void)
{
	int fd = mkstemp(path);
	CHECK(fd >= 0);
	EQUAL(flock(fd, LOCK_SH), 0);
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	EQUAL(flock(fd, LOCK_UN), 0);
	finish(a);
	finish(b);
	EQUAL(lockf(fd, F_LOCK, 0), 0); /* of the whole process: nobody else has it */
	EQUAL(lockf(fd, F_ULOCK, 0), 0);
	EQUAL(unlink(path), 0);
	printf("%d %d\n", sum[0], sum[1]);
	return 0;
}
