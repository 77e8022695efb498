/* The kernel itself: libc's syscall() leads to blocking.c. */
#include "loom/runtime/process/process.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

bool raw_wait(uint32_t *place, uint32_t value, time_t seconds)
{
	struct timespec time = { .tv_sec = seconds };
	return raw_call(SYS_futex, (long)place, FUTEX_WAIT_PRIVATE, (long)value, (long)&time, 0, 0) !=
	       -ETIMEDOUT;
}

void raw_wake(uint32_t *place)
{
	raw_call(SYS_futex, (long)place, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
