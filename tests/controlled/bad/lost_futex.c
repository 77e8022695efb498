/* Waits on a word that the waker does not change, by the bare system call.
 * expect: lost-wakeup */
#include "../../correct/check.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static int event, ready;

static void *wake(void *none)
{
	__atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &event, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return none;
}

int main(void)
{
	pthread_t thread = start(wake, NULL);
	while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &event, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	finish(thread);
	return 0;
}
