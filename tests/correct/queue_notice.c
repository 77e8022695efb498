/* mq_notify: the notice comes in a thread that libc makes.
 * may be named as not under control */
#include "check.h"

#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t noticed;

static void notice(union sigval value)
{
	(void)value;
	sem_post(&noticed);
}

static void *sender(void *argument)
{
	EQUAL(mq_send(*(mqd_t *)argument, "x", 1, 0), 0);
	return NULL;
}

int main(void)
{
	char name[64], text[16];
	snprintf(name, sizeof name, "/notice-%d", (int)getpid());
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = 16 };
	mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
	if (queue == (mqd_t)-1) {
		printf("noticed\n");
		return 0;
	}
	mq_unlink(name);
	sem_init(&noticed, 0, 0);
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notice };
	EQUAL(mq_notify(queue, &event), 0);
	pthread_t thread = start(sender, &queue);
	while (sem_wait(&noticed))
		EQUAL(errno, EINTR);
	EQUAL(mq_receive(queue, text, sizeof text, NULL), 1);
	finish(thread);
	printf("noticed\n");
	return 0;
}
