/* Message queues and sets of semaphores under control: asked without waiting, and again when one of them
 * has changed. Other processes may change them, too, so who waits for one is not called deadlocked. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>

/* ---- System V ---- */

#define SEMAPHORES_SEEN 64

static uint64_t ipc_changes; /* by threads of this process */

struct ipc_wait {
	bool is_set; /* of semaphores, else a queue */
	int id;
	uint64_t seen; /* its state when it did not do */
};

static uint64_t mixed(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x9e3779b97f4a7c15u + 1;
}

/* Differs when the object has changed; one that is gone is a change, too. */
static uint64_t ipc_state(const struct ipc_wait *wait)
{
	uint64_t sum = mixed(0, ipc_changes);
	if (wait->is_set) {
		union {
			struct semid_ds *state;
			unsigned short *values;
		} argument;
		unsigned short values[SEMAPHORES_SEEN] = { 0 };
		struct semid_ds state = { 0 };
		argument.state = &state;
		if (semctl(wait->id, 0, IPC_STAT, argument) != 0)
			return mixed(sum, 1);
		argument.values = values;
		if (state.sem_nsems <= SEMAPHORES_SEEN)
			semctl(wait->id, 0, GETALL, argument);
		for (uint32_t i = 0; i < SEMAPHORES_SEEN; i++)
			sum = mixed(sum, values[i]);
		return mixed(sum, (uint64_t)state.sem_otime);
	}
	struct msqid_ds state = { 0 };
	if (msgctl(wait->id, IPC_STAT, &state) != 0)
		return mixed(sum, 1);
	sum = mixed(mixed(sum, state.msg_qnum), state.__msg_cbytes);
	return mixed(mixed(sum, (uint64_t)state.msg_lspid), (uint64_t)state.msg_lrpid);
}

static bool ipc_look(struct agent *agent)
{
	const struct ipc_wait *wait = agent->looked;
	return ipc_state(wait) != wait->seen;
}

/* False with errno when it was interrupted or the time is up. */
static bool ipc_rest(struct agent *me, struct ipc_wait *wait, uint64_t deadline)
{
	if (deadline <= time_of(me)) {
		errno = EAGAIN;
		return false;
	}
	wait->seen = ipc_state(wait);
	me->look = ipc_look;
	me->looked = wait;
	me->foreign = true;
	enum wait_result end = control_wait(me, WAIT_INPUT, 0, deadline);
	cancel_point(me);
	errno = end == WAIT_TIMED_OUT ? EAGAIN : EINTR; /* these calls never go on after a handler */
	return end == WAIT_WOKEN;
}

static long ipc_done(long result)
{
	int saved = errno;
	if (result >= 0) {
		ipc_changes++;
		blocking_moved();
	}
	errno = saved;
	return result;
}

INTERPOSE ssize_t msgrcv(int id, void *message, size_t size, long type, int flags)
{
	struct agent *me = control_me();
	struct ipc_wait wait = { .id = id };
	ssize_t result;
	if (!me)
		return REAL(msgrcv)(id, message, size, type, flags);
	control_call(me, NULL);
	cancel_point(me);
	while ((result = REAL(msgrcv)(id, message, size, type, flags | IPC_NOWAIT)) < 0 && errno == ENOMSG &&
	       !(flags & IPC_NOWAIT) && ipc_rest(me, &wait, NEVER))
		;
	return ipc_done(result);
}

INTERPOSE int msgsnd(int id, const void *message, size_t size, int flags)
{
	struct agent *me = control_me();
	struct ipc_wait wait = { .id = id };
	int result;
	if (!me)
		return REAL(msgsnd)(id, message, size, flags);
	control_call(me, NULL);
	cancel_point(me);
	while ((result = REAL(msgsnd)(id, message, size, flags | IPC_NOWAIT)) < 0 && errno == EAGAIN &&
	       !(flags & IPC_NOWAIT) && ipc_rest(me, &wait, NEVER))
		;
	return (int)ipc_done(result);
}

/* Tried with IPC_NOWAIT in each operation; true when one that may wait would have to. */
static bool set_must_wait(int id, const struct sembuf *operations, size_t n, int *result)
{
	struct sembuf now[n ? n : 1];
	bool may_wait = false;
	for (size_t i = 0; i < n; i++) {
		now[i] = operations[i];
		may_wait |= !(operations[i].sem_flg & IPC_NOWAIT);
		now[i].sem_flg = (short)(operations[i].sem_flg | IPC_NOWAIT);
	}
	*result = REAL(semop)(id, now, n);
	return *result < 0 && errno == EAGAIN && may_wait;
}

#define OPERATIONS_MOST 500u /* the kernel's limit */

static int set_change(struct agent *me, int id, const struct sembuf *operations, size_t n, uint64_t deadline)
{
	struct ipc_wait wait = { .is_set = true, .id = id };
	int result;
	control_call(me, NULL);
	while (set_must_wait(id, operations, n, &result) && ipc_rest(me, &wait, deadline))
		;
	return (int)ipc_done(result);
}

INTERPOSE int semop(int id, struct sembuf *operations, size_t n)
{
	struct agent *me = control_me();
	return me && n <= OPERATIONS_MOST ? set_change(me, id, operations, n, NEVER)
					  : REAL(semop)(id, operations, n);
}

INTERPOSE int semtimedop(int id, struct sembuf *operations, size_t n, const struct timespec *time)
{
	struct agent *me = control_me();
	if (!me || n > OPERATIONS_MOST)
		return REAL(semtimedop)(id, operations, n, time);
	uint64_t deadline =
		time ? time_of(me) + (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec : NEVER;
	return set_change(me, id, operations, n, deadline);
}

/* ---- POSIX: a queue is a file ---- */

static bool queue_waits(struct agent *me, mqd_t queue, short events, const struct timespec *when)
{
	uint64_t deadline = NEVER;
	blocking_point(me, queue);
	if (when && !clock_deadline(CLOCK_REALTIME, when, &deadline)) {
		errno = EINVAL;
		return false;
	}
	return blocking_await(me, queue, events, deadline);
}

static ssize_t queue_take(struct agent *me, mqd_t queue, char *to, size_t size, unsigned *priority,
			  const struct timespec *when)
{
	if (!queue_waits(me, queue, POLLIN, when))
		return -1;
	ssize_t result = REAL(mq_receive)(queue, to, size, priority);
	blocking_moved();
	return result;
}

INTERPOSE ssize_t mq_timedreceive(mqd_t queue, char *to, size_t size, unsigned *priority,
				  const struct timespec *when)
{
	struct agent *me = control_me();
	return me ? queue_take(me, queue, to, size, priority, when)
		  : REAL(mq_timedreceive)(queue, to, size, priority, when);
}

INTERPOSE ssize_t mq_receive(mqd_t queue, char *to, size_t size, unsigned *priority)
{
	struct agent *me = control_me();
	return me ? queue_take(me, queue, to, size, priority, NULL)
		  : REAL(mq_receive)(queue, to, size, priority);
}

static int queue_give(struct agent *me, mqd_t queue, const char *from, size_t size, unsigned priority,
		      const struct timespec *when)
{
	if (!queue_waits(me, queue, POLLOUT, when))
		return -1;
	int result = REAL(mq_send)(queue, from, size, priority);
	blocking_moved();
	return result;
}

INTERPOSE int mq_timedsend(mqd_t queue, const char *from, size_t size, unsigned priority,
			   const struct timespec *when)
{
	struct agent *me = control_me();
	return me ? queue_give(me, queue, from, size, priority, when)
		  : REAL(mq_timedsend)(queue, from, size, priority, when);
}

INTERPOSE int mq_send(mqd_t queue, const char *from, size_t size, unsigned priority)
{
	struct agent *me = control_me();
	return me ? queue_give(me, queue, from, size, priority, NULL)
		  : REAL(mq_send)(queue, from, size, priority);
}
