/* In programs that name pthread_exit or thrd_exit, and only there: they need the unwinder, libgcc_s, which is
 * linked by this. Else libc would load it in each run anew. All other programs in C do without it, as they do
 * without hooks: its mappings would be copied by each fork. */
#include "loom/runtime/interpose.h"

#include <pthread.h>
#include <threads.h>

extern void _Unwind_Resume(void *exception);

/* A name of libgcc_s for the linker to find. */
__attribute__((used)) static void (*const needed)(void *) = _Unwind_Resume;

INTERPOSE void pthread_exit(void *value)
{
	REAL(pthread_exit)(value);
	__builtin_unreachable();
}

INTERPOSE void thrd_exit(int value)
{
	REAL(thrd_exit)(value);
	__builtin_unreachable();
}
