/* The program executes itself while threads are at work, twice, and ends well.
 * uncontrolled: programs that are executed */
#include "check.h"

#include <unistd.h>

static int x;

static void *worker(void *none)
{
	for (;;)
		__atomic_fetch_add(&x, 1, __ATOMIC_RELAXED), usleep(100);
	return none;
}

int main(int argc, char **argv)
{
	static char *next[] = { NULL, "1", NULL, NULL };
	if (argc > 2) {
		printf("executed twice\n");
		return 0;
	}
	pthread_create(&(pthread_t){ 0 }, NULL, worker, NULL);
	next[0] = argv[0];
	if (argc == 2)
		next[2] = "2";
	execv("/proc/self/exe", next);
	return 1;
}
