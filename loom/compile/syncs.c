/* Library functions that synchronise, block, or end and signal threads and
 * processes, by the names under which a program calls them. C++ functions that
 * lie in the library (not in its headers) are known by their class. */
#include "loom/compile/transform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sorted by name. */
static const char *const names[] = {
	"_Exit",
	"__assert_fail",
	"__cxa_guard_abort",
	"__cxa_guard_acquire",
	"__cxa_guard_release",
	"_exit",
	"abort",
	"accept",
	"accept4",
	"call_once",
	"clock_nanosleep",
	"cnd_broadcast",
	"cnd_signal",
	"cnd_timedwait",
	"cnd_wait",
	"connect",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"eventfd_read",
	"eventfd_write",
	"exit",
	"flock",
	"flockfile",
	"fork",
	"ftrylockfile",
	"funlockfile",
	"kill",
	"killpg",
	"lockf",
	"mq_receive",
	"mq_send",
	"mq_timedreceive",
	"mq_timedsend",
	"msgrcv",
	"msgsnd",
	"mtx_lock",
	"mtx_timedlock",
	"mtx_trylock",
	"mtx_unlock",
	"nanosleep",
	"pause",
	"pclose",
	"poll",
	"popen",
	"ppoll",
	"pread",
	"preadv",
	"pselect",
	"pthread_barrier_wait",
	"pthread_cancel",
	"pthread_clockjoin_np",
	"pthread_cond_broadcast",
	"pthread_cond_clockwait",
	"pthread_cond_signal",
	"pthread_cond_timedwait",
	"pthread_cond_wait",
	"pthread_create",
	"pthread_detach",
	"pthread_exit",
	"pthread_join",
	"pthread_kill",
	"pthread_mutex_clocklock",
	"pthread_mutex_consistent",
	"pthread_mutex_lock",
	"pthread_mutex_timedlock",
	"pthread_mutex_trylock",
	"pthread_mutex_unlock",
	"pthread_once",
	"pthread_rwlock_clockrdlock",
	"pthread_rwlock_clockwrlock",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_timedrdlock",
	"pthread_rwlock_timedwrlock",
	"pthread_rwlock_tryrdlock",
	"pthread_rwlock_trywrlock",
	"pthread_rwlock_unlock",
	"pthread_rwlock_wrlock",
	"pthread_setcancelstate",
	"pthread_setcanceltype",
	"pthread_sigqueue",
	"pthread_spin_lock",
	"pthread_spin_trylock",
	"pthread_spin_unlock",
	"pthread_testcancel",
	"pthread_timedjoin_np",
	"pthread_tryjoin_np",
	"pthread_yield",
	"pwrite",
	"pwritev",
	"quick_exit",
	"raise",
	"read",
	"readv",
	"recv",
	"recvfrom",
	"recvmmsg",
	"recvmsg",
	"sched_yield",
	"select",
	"sem_clockwait",
	"sem_close",
	"sem_destroy",
	"sem_getvalue",
	"sem_init",
	"sem_open",
	"sem_post",
	"sem_timedwait",
	"sem_trywait",
	"sem_unlink",
	"sem_wait",
	"semop",
	"semtimedop",
	"send",
	"sendmmsg",
	"sendmsg",
	"sendto",
	"sigqueue",
	"sigsuspend",
	"sigtimedwait",
	"sigwait",
	"sigwaitinfo",
	"sleep",
	"syscall",
	"system",
	"tgkill",
	"thrd_create",
	"thrd_detach",
	"thrd_exit",
	"thrd_join",
	"thrd_sleep",
	"thrd_yield",
	"usleep",
	"vfork",
	"wait",
	"wait3",
	"wait4",
	"waitid",
	"waitpid",
	"write",
	"writev",
};

/* Classes and functions of the C++ library whose out-of-line members synchronise; sorted.
 * Some are in the headers of one C++ library and out of line in another. */
static const char *const library[] = {
	"std::__atomic_futex_unsigned_base",
	"std::__call_once",
	"std::__cxx_atomic_notify_all",
	"std::__cxx_atomic_notify_one",
	"std::__future_base::_State_baseV2::_Make_ready",
	"std::__libcpp_atomic_wait",
	"std::__shared_mutex_base",
	"std::condition_variable",
	"std::condition_variable_any",
	"std::mutex",
	"std::notify_all_at_thread_exit",
	"std::recursive_mutex",
	"std::recursive_timed_mutex",
	"std::shared_timed_mutex",
	"std::this_thread",
	"std::thread",
	"std::timed_mutex",
};

static int compare(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

#define LISTED(list, name) \
	(bsearch(name, list, sizeof(list) / sizeof *(list), sizeof *(list), compare) != NULL)

/* The checked variants that -D_FORTIFY_SOURCE calls: __read_chk is read. */
static void plain_name(const char *name, char out[256])
{
	size_t length = strlen(name);
	if (length > 6 && length < 64 && strncmp(name, "__", 2) == 0 &&
	    strcmp(name + length - 4, "_chk") == 0)
		snprintf(out, 256, "%.*s", (int)(length - 6), name + 2);
	else
		snprintf(out, 256, "%s", name);
}

/* Qualified name of a function in namespace std: _ZNSt18condition_variable4waitE... is
 * std::condition_variable::wait. False for other names, and for constructors, destructors,
 * operators and templates, whose names are spelled otherwise. `around` gets all but the last. */
static bool library_name(const char *mangled, char out[256], char around[256])
{
	bool nested = strncmp(mangled, "_ZN", 3) == 0;
	const char *at = mangled + (nested ? 3 : 2);
	if (strncmp(mangled, "_Z", 2) != 0)
		return false;
	at += nested && *at == 'K';
	if (strncmp(at, "St", 2) != 0)
		return false;
	at += 2;
	snprintf(out, 256, "std");
	while (*at >= '1' && *at <= '9') {
		char *text;
		size_t length = strtoul(at, &text, 10), n = strlen(out);
		if (length > strlen(text) || n + length + 3 > 256)
			return false;
		at = text + length;
		if (length > 1 && (strncmp(text, "_V", 2) == 0 || strncmp(text, "__1", length) == 0))
			continue; /* an inline namespace */
		snprintf(around, 256, "%s", out);
		snprintf(out + n, 256 - n, "::%.*s", (int)length, text);
		if (!nested)
			return true;
	}
	return *at == 'E' && strcmp(out, "std") != 0;
}

bool syncs_find(LLVMValueRef callee, char out[256])
{
	size_t length;
	if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee) || LLVMGetIntrinsicID(callee))
		return false;
	const char *name = LLVMGetValueName2(callee, &length);
	char around[256];
	if (!library_name(name, out, around)) {
		plain_name(name, out);
		return LISTED(names, out);
	}
	if (!LISTED(library, around) && !LISTED(library, out))
		return false;
	if (strcmp(out, "std::thread::_M_start_thread") == 0)
		snprintf(out, 256, "std::thread");
	return true;
}
