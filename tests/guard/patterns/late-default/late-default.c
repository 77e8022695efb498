/* A W-W order violation: the logger sets its default level when it starts, main sets the
 * user's when the logger has been started, and hopes that the default was there before. */
#include <pthread.h>
#include <stdio.h>

#include "../pause.h"

static struct {
	int level;
	unsigned long lines;
} logger;

static unsigned long work(unsigned long state, int steps)
{
	for (int i = 0; i < steps; i++)
		state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state;
}

static void *logger_main(void *unused)
{
	(void)unused; PAUSE(20);
	logger.level = 1;
	logger.lines = work(1, 20000);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, logger_main, NULL);
	work(2, 400000);
	logger.level = 3;
	pthread_join(thread, NULL);
	printf("level %d\n", logger.level);
	return logger.level != 3;
}
