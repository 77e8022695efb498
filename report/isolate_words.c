/* One table for each kind of thing that isolate has to name.
 */
#include "report/isolate_words.h"

const char *isolate_order_words(enum isolate_story story)
{
	static const char *const words[] = {
		[ORDER_BETWEEN] =
			"another thread changed the location between two accesses that must be one step: the "
			"failure goes away when its access is moved before them as well as when it is moved "
			"behind them",
		[ORDER_READ_BETWEEN] =
			"the location was read between two writes that must be one step: the failure goes "
			"away when the read is moved before them as well as when it is moved behind them",
		[ORDER_CHANGED_EARLY] =
			"one thread changed the location before another was done with it: the failure goes "
			"away when the change waits for the other thread",
		[ORDER_READ_EARLY] =
			"the location was read before another thread had given it its value: the failure "
			"goes away when the read waits for that",
		[ORDER_MISSED] =
			"a thread looked whether it has to wait, and another changed that and gave its "
			"signal before it waited: it does not hang when the look waits for the change",
		[ORDER_CYCLE] = "threads wait for each other: each has the lock that the next one wants",
		[ORDER_CYCLE_MENDED] =
			"threads wait for each other: each has the lock that the next one wants; they do not "
			"when one of them waits before it takes its first lock",
	};

	return words[story];
}

const char *isolate_failed_words(enum isolate_kind kind)
{
	static const char *const words[] = {
		[FAILED_NOT] = "it ended by a signal",
		[FAILED_ACCESS] = "an address that is no memory was used",
		[FAILED_JUMP] = "it jumped to an address that is no code",
		[FAILED_VALUE] = "the processor refused a value",
		[FAILED_BRANCH] = "a check was not passed",
		[FAILED_DEAD] = "a block was used after it had been freed",
		[FAILED_BEYOND] = "memory beside a block was used",
		[FAILED_FREE] = "a block was freed that is none any more",
		[FAILED_HANG] = "nothing went on from here: what is waited for does not come",
		[FAILED_WATCH] = "the value that is watched was read",
	};

	return words[kind];
}

const char *isolate_failed_name(enum isolate_kind kind)
{
	static const char *const names[] = {
		[FAILED_NOT] = "signal",      [FAILED_ACCESS] = "access",    [FAILED_JUMP] = "jump",
		[FAILED_VALUE] = "value",     [FAILED_BRANCH] = "check",     [FAILED_DEAD] = "use-after-free",
		[FAILED_BEYOND] = "overflow", [FAILED_FREE] = "double-free", [FAILED_HANG] = "hang",
		[FAILED_WATCH] = "watch",
	};

	return names[kind];
}

const char *isolate_definer_words(enum isolate_definer definer)
{
	static const char *const words[] = {
		[DEFINED_NOT] = "not written by anybody since the program began",
		[DEFINED_STORE] = "written",
		[DEFINED_KERNEL] = "written by a system call",
		[DEFINED_ALLOCATED] = "never written since it was allocated",
		[DEFINED_FREED] = "freed",
		[DEFINED_FRAME] = "never written since its function was entered",
		[DEFINED_CLEARED] = "not written since it was allocated as zeros",
		[DEFINED_LOST] = "written too long ago to know where",
	};

	return words[definer];
}

const char *isolate_definer_name(enum isolate_definer definer)
{
	static const char *const names[] = {
		[DEFINED_NOT] = "nobody",         [DEFINED_STORE] = "store",
		[DEFINED_KERNEL] = "system-call", [DEFINED_ALLOCATED] = "allocation",
		[DEFINED_FREED] = "free",         [DEFINED_FRAME] = "frame",
		[DEFINED_CLEARED] = "zeros",      [DEFINED_LOST] = "lost",
	};

	return names[definer];
}
