/* Polls with sleeps for what the other will never do.
 * expect: livelock */
#include "../../correct/check.h"

#include <unistd.h>

int done; /* not static, or the compiler knows that nobody sets it */

static void *poll_done(void *none)
{
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		usleep(1000);
	return none;
}

int main(void)
{
	finish(start(poll_done, NULL));
	return 0;
}
