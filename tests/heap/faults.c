/* One memory fault, named by the argument; none of them crashes by itself. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *block;
static volatile char sink;
static volatile size_t eleven = 11;

static void *free_it(void *argument)
{
	free(block);
	return argument;
}

static void *grow_it(void *argument)
{
	argument = realloc(block, 1000);
	return argument;
}

static void in_thread(void *(*what)(void *))
{
	pthread_t thread;
	pthread_create(&thread, NULL, what, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *fault = argc > 1 ? argv[1] : "";
	char copy[40];

	block = malloc(11);
	strcpy(block, "0123456789");
	if (!strcmp(fault, "read") || !strcmp(fault, "write") || !strcmp(fault, "memcpy") ||
	    !strcmp(fault, "strlen") || !strcmp(fault, "strcmp") || !strcmp(fault, "twice"))
		in_thread(free_it);
	if (!strcmp(fault, "moved"))
		in_thread(grow_it);
	if (!strcmp(fault, "read") || !strcmp(fault, "moved"))
		sink = block[3];
	if (!strcmp(fault, "write"))
		block[3] = 1;
	if (!strcmp(fault, "memcpy"))
		sink = *(char *)memcpy(copy, block, eleven);
	if (!strcmp(fault, "strlen"))
		sink = (char)strlen(block);
	if (!strcmp(fault, "strcmp"))
		sink = (char)strcmp(block, "another");
	if (!strcmp(fault, "twice"))
		in_thread(free_it);
	if (!strcmp(fault, "behind"))
		block[eleven] = 1;
	if (!strcmp(fault, "far"))
		sink = block[eleven + 20];
	if (!strcmp(fault, "before"))
		sink = block[-(long)eleven / 11];
	if (!strcmp(fault, "fill"))
		memset(block, 1, eleven + 1);
	if (!strcmp(fault, "search")) {
		block[eleven - 1] = 'x';
		sink = strchr(block, 'q') != NULL;
	}
	if (!strcmp(fault, "copy"))
		strcpy(block, argv[2]);
	return 0;
}
