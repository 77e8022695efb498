/* POSIX message queues: who takes waits for who gives, and who gives for room.
 * may be named: process numbers */
#include "check.h"

#include <fcntl.h>
#include <mqueue.h>
#include <unistd.h>

static mqd_t queue;

static void *giver(void *none)
{
	for (int i = 0; i < 4; i++) {
		char byte = (char)('a' + i);
		EQUAL(mq_send(queue, &byte, 1, 0), 0);
	}
	return none;
}

int main(void)
{
	char name[32], got[5] = "", byte[8];
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	snprintf(name, sizeof name, "/queue-%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
	CHECK(queue != (mqd_t)-1);
	EQUAL(mq_unlink(name), 0);
	pthread_t thread = start(giver, NULL);
	for (int i = 0; i < 4; i++) {
		struct timespec limit = in_ms(CLOCK_REALTIME, 60000);
		EQUAL(i % 2 ? mq_receive(queue, byte, 8, NULL)
			    : mq_timedreceive(queue, byte, 8, NULL, &limit),
		      1);
		got[i] = byte[0];
	}
	finish(thread);
	EQUAL(mq_close(queue), 0);
	printf("%s\n", got);
	return 0;
}
