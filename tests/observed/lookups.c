/* Lookups that fail, so that libc itself frees a message inside dlsym before the
 * program has freed anything.
 * run: -> 0
 * pair: put > get
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static volatile int value;

static void *work(void *argument)
{
	value = 6; /* @put */
	return argument;
}

int main(void)
{
	pthread_t thread;
	int found = 0;
	for (int i = 0; i < 3; i++)
		found += dlsym(RTLD_DEFAULT, "there_is_no_such_function") != NULL;
	found += dlopen("there-is-no-such-library.so", RTLD_NOW) != NULL;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	printf("%d %d\n", found, value); /* @get */
	return 0;
}
