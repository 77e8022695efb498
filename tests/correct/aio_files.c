/* POSIX asynchronous input and output, whose threads are libc's: waited for with aio_suspend, by a notice in a
 * thread, and by looking again and again.
 * may be named as not under control */
#include "check.h"

#include <aio.h>
#include <semaphore.h>
#include <unistd.h>
#include <fcntl.h>
#include <signal.h>

static sem_t noticed;

static void notice(union sigval value)
{
	(void)value;
	sem_post(&noticed);
}

static void *work(void *argument)
{
	int fd = *(int *)argument;
	char text[8] = "";
	struct aiocb block = { .aio_fildes = fd, .aio_buf = text, .aio_nbytes = 5 };
	const struct aiocb *list[] = { &block };
	EQUAL(aio_read(&block), 0);
	while (aio_error(&block) == EINPROGRESS)
		EQUAL(aio_suspend(list, 1, NULL), 0);
	EQUAL(aio_return(&block), 5);
	EQUAL(strcmp(text, "hello"), 0);
	return NULL;
}

int main(void)
{
	char path[] = "/tmp/aio-XXXXXX", text[] = "world";
	int fd = mkstemp(path);
	CHECK(fd >= 0);
	sem_init(&noticed, 0, 0);
	EQUAL(pwrite(fd, "hello", 5, 0), 5);
	pthread_t a = start(work, &fd), b = start(work, &fd);
	struct aiocb block = { .aio_fildes = fd, .aio_buf = text, .aio_nbytes = 5, .aio_offset = 5 };
	block.aio_sigevent.sigev_notify = SIGEV_THREAD;
	block.aio_sigevent.sigev_notify_function = notice;
	EQUAL(aio_write(&block), 0);
	while (sem_wait(&noticed))
		EQUAL(errno, EINTR);
	EQUAL(aio_return(&block), 5);
	finish(a), finish(b);
	unlink(path);
	printf("read and written\n");
	return 0;
}
