/* A library that test_runtime.sh loads into plugin_host.c again and again. */
#include <pthread.h>

volatile int plugin_value;
static volatile char history[64];

static void *work(void *argument)
{
	plugin_value++; /* @inside */
	history[3]++;   /* @history */
	return argument;
}

int plugin_run(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	return plugin_value; /* @result */
}

/* Touched by the calling thread only: a new mapping has no history. */
int plugin_touch(void)
{
	return history[3]++; /* @touch */
}
