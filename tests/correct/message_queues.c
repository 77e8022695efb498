/* System V message queues and semaphores: who takes waits for who gives, and who gives for room. */
#include "check.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

struct message {
	long type;
	char text[8];
};

static int queue, set;

static void *giver(void *none)
{
	for (long i = 0; i < 3; i++) {
		struct message message = { .type = i + 1, .text = { (char)('a' + i) } };
		EQUAL(msgsnd(queue, &message, 1, 0), 0);
	}
	struct sembuf up = { .sem_num = 0, .sem_op = 2 };
	EQUAL(semop(set, &up, 1), 0);
	return none;
}

int main(void)
{
	struct message message;
	char got[4] = "";
	queue = msgget(IPC_PRIVATE, 0600);
	set = semget(IPC_PRIVATE, 1, 0600);
	CHECK(queue >= 0 && set >= 0);
	pthread_t thread = start(giver, NULL);
	for (int i = 0; i < 3; i++) {
		EQUAL(msgrcv(queue, &message, sizeof message.text, 3 - i, 0), 1);
		got[i] = message.text[0];
	}
	struct sembuf down = { .sem_num = 0, .sem_op = -1 };
	EQUAL(semop(set, &down, 1), 0);
	struct timespec limit = { .tv_sec = 10 };
	EQUAL(semtimedop(set, &down, 1, &limit), 0);
	finish(thread);
	down.sem_flg = IPC_NOWAIT;
	FAILS(semop(set, &down, 1), EAGAIN);
	FAILS(msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT), ENOMSG);
	EQUAL(msgctl(queue, IPC_RMID, NULL), 0);
	EQUAL(semctl(set, 0, IPC_RMID), 0);
	printf("%s\n", got);
	return 0;
}
