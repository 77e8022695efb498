/* Calls that wait for input or output of files, and futexes. */
#include "loom/runtime/control.h"
#include "loom/runtime/interpose.h"

bool blocking_poll(bool wait)
{
	(void)wait;
	return false;
}
