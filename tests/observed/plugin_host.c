/* Loads and unloads an observed library in a loop, forks in between, and lets
 * different threads touch what lies at the same address each time.
 * pair: inside > result
 * pair: mine > joined
 * no pair: history > touch
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int value;

static void *work(void *argument)
{
	value++; /* @mine */
	return argument;
}

static int use(const char *path, const char *function)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	int (*run)(void) = (int (*)(void))dlsym(library, function);
	int result = run();
	dlclose(library);
	return result;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int rounds = argc > 2 ? atoi(argv[2]) : 20, sum = 0;
	for (int i = 0; i < rounds; i++) {
		sum += use(argv[1], "plugin_run");
		sum += use(argv[1], "plugin_touch");
		if (i % 10 == 5 && i < 100) {
			pid_t pid = fork();
			if (pid == 0)
				_exit(use(argv[1], "plugin_run") + 4);
			int status;
			waitpid(pid, &status, 0);
			sum += WEXITSTATUS(status);
		}
	}
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	printf("%d %d\n", sum, value); /* @joined */
	return 0;
}
