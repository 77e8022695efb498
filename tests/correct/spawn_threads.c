/* posix_spawn from one thread while another works, and popen.
 * uncontrolled: other processes */
#include "check.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int count;

static void *worker(void *none)
{
	for (int i = 0; i < 50; i++)
		__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	return none;
}

int main(void)
{
	char *const words[] = { "true", NULL };
	char line[16] = "";
	int status = 1;
	pid_t child;
	pthread_t thread = start(worker, NULL);
	EQUAL(posix_spawn(&child, "/bin/true", NULL, NULL, words, environ), 0);
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	FILE *from = popen("echo yes", "r");
	CHECK(from && fgets(line, sizeof line, from));
	EQUAL(pclose(from), 0);
	finish(thread);
	printf("%d %s", count, line);
	return 0;
}
