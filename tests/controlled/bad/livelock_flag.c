/* Spins on a flag that nobody sets.
 * expect: livelock */
#include "../check.h"

static int flag;

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
