/* Where the program's function that made an access was called from: for the few accesses that
 * are told to a person. Unwound by libc, from the tables that exceptions use.
 */
#include "loom/runtime/observe/cells.h"

#include <execinfo.h>

#define FRAMES 32

/* The linker's names for the ends of the runtime's own code. */
extern HIDDEN const char __start_unsnarl_text[], __stop_unsnarl_text[];

/* libc loads its unwinder at the first call: before another thread can be stopped in the middle of that. */
void callers_start(void)
{
	void *frame;

	if (runtime.options.ntold)
		backtrace(&frame, 1);
}

static bool is_own(const char *pc)
{
	return pc >= __start_unsnarl_text && pc < __stop_unsnarl_text;
}

static void find_caller(struct thread *self, struct area_caller *out)
{
	void *frames[FRAMES];
	unsnarl_self = &unsnarl_nobody; /* what the unwinder does is not the program's doing */
	int n = backtrace(frames, FRAMES);
	for (int i = 0; i < n && !out->caller; i++) {
		uint32_t path, address = is_own(frames[i]) ? 0 : units_place(frames[i], &path);
		if (address && out->at) {
			out->caller = address;
			out->caller_path = path;
		} else if (address) {
			out->at = address;
			out->at_path = path;
		}
	}
	unsnarl_self = self;
}

void callers_tell(struct thread *self)
{
	static uint32_t naccesses, nfound; /* under the lock of the trace */
	const struct area_options *options = &runtime.options;

	if (nfound < options->ntold && nfound < AREA_TOLD && naccesses++ == options->told[nfound])
		find_caller(self, &runtime.process->callers[nfound++]);
}
