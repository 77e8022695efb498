/* Library functions that touch memory are accesses at the line of their call.
 * run: -> 0
 * pair: copy > length
 * pair: copy > compare
 * pair: fill > copied
 * pair: fill > find
 * pair: move > moved
 * pair: copy > copied2
 * pair: input > echo
 * pair: append > appended
 * no pair: fill > beyond
 * pair: print > printed
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char name[32], other[64], third[64], line[32], list[32] = "ab", printed[32];
static volatile size_t size = 20;
static volatile long apart __attribute__((aligned(64)));

static void *first(void *argument)
{
	strcpy(name, argument); /* @copy */
	memset(other, 'x', size); /* @fill */
	memmove(third, other, size); /* @move */
	int ends[2];
	if (pipe(ends) == 0 && write(ends[1], "words", 6) == 6 && read(ends[0], line, sizeof line) == 6) /* @input */
		close(ends[0]), close(ends[1]);
	strcat(list, argument); /* @append */
	snprintf(printed, sizeof printed, "%s!", name); /* @print */
	return argument;
}

static void *second(void *argument)
{
	char copy[64];
	size_t sum = strlen(name); /* @length */
	sum += strcmp(name, "somebody") == 0; /* @compare */
	memcpy(copy, other, size); /* @copied */
	sum += memchr(other, 'y', size) == NULL; /* @find */
	sum += memcmp(third, copy, size) == 0; /* @moved */
	strncpy(copy, name, size); /* @copied2 */
	sum += other[40] == 0; /* @beyond */
	sum += ((volatile char *)list)[3] == 'o'; /* @appended */
	sum += ((volatile char *)printed)[1] == 'o'; /* @printed */
	sum += (size_t)((char *)memchr(name, 's', (size_t)-1) - name);
	sum += (size_t)((char *)memchr(name, 'y', 1u << 30) - name);
	puts(line); /* @echo */
	printf("%zu %s\n", sum, copy);
	return argument;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, first, "somebody");
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, second, NULL);
	pthread_join(thread, NULL);
	return 0;
}
