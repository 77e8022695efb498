/* Three threads call _exit with the same status: the process ends once. */
#include "check.h"

#include <unistd.h>

static void *leave(void *none)
{
	_exit(0);
	return none;
}

int main(void)
{
	puts("leaving");
	fflush(stdout);
	start(leave, NULL);
	start(leave, NULL);
	leave(NULL);
}
