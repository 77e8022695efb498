/* The bare system call: waits for a value to change, wakes so many, times out. */
#include "check.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word, woken;

static long futex(int operation, int value, const struct timespec *timeout)
{
	return syscall(SYS_futex, &word, operation, value, timeout, NULL, 0);
}

static void *wait_change(void *none)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) {
		long code = futex(FUTEX_WAIT_PRIVATE, 0, NULL);
		CHECK(code == 0 || errno == EAGAIN || errno == EINTR);
	}
	__atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
	return none;
}

int main(void)
{
	struct timespec three = { 0, 3000000 };
	FAILS(futex(FUTEX_WAIT_PRIVATE, 1, NULL), EAGAIN);
	long long before = now_ns(CLOCK_MONOTONIC);
	FAILS(futex(FUTEX_WAIT_PRIVATE, 0, &three), ETIMEDOUT);
	CHECK(now_ns(CLOCK_MONOTONIC) - before >= 3000000);
	EQUAL(futex(FUTEX_WAKE_PRIVATE, 1, NULL), 0);
	pthread_t a = start(wait_change, NULL), b = start(wait_change, NULL);
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	long n = futex(FUTEX_WAKE_PRIVATE, 1, NULL);
	CHECK(n == 0 || n == 1);
	n = futex(FUTEX_WAKE_PRIVATE, 1 << 30, NULL);
	CHECK(n >= 0 && n <= 2);
	finish(a);
	finish(b);
	printf("%d\n", woken);
	return 0;
}
