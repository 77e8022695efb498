/* Where the program's function that made an access was called from: for the one run that is
 * told to a person. Unwound by libc, from the tables that exceptions use.
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

	if (runtime.options.observe & OBSERVE_CALLERS)
		backtrace(&frame, 1);
}

static bool is_own(const char *pc)
{
	return pc >= __start_unsnarl_text && pc < __stop_unsnarl_text;
}

void callers_find(struct thread *self, struct area_event *event)
{
	void *frames[FRAMES];
	unsnarl_self = &unsnarl_nobody; /* what the unwinder does is not the program's doing */
	int n = backtrace(frames, FRAMES);
	unsnarl_self = self;

	for (int i = 0; i < n && !event->caller; i++) {
		uint32_t address = is_own(frames[i]) ? 0 : units_program_address(frames[i]);

		if (address && event->at)
			event->caller = address;
		else if (address)
			event->at = address;
	}
}
