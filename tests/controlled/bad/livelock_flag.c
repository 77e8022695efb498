/* Spins on a flag that nobody sets.
 * expect: livelock */
#include "../../correct/check.h"

int flag; /* not static, or the compiler knows that nobody sets it */

static void *wait_flag(void *none)
{
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	return none;
}

int main(void)
{
	finish(start(wait_flag, NULL));
	return 0;
}
