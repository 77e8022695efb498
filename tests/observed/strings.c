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
 * pair: near > word
 * pair: near > character
 * pair: near > block
 * pair: near > span
 * pair: near > break
 * pair: near > differ
 * pair: near > nocase
 * pair: near > number
 * pair: near > real
 * pair: far > missing
 * pair: far > spanned
 * pair: far > same
 * no pair: far > word
 * no pair: far > character
 * no pair: far > block
 * no pair: far > span
 * no pair: far > break
 * no pair: far > differ
 * no pair: far > nocase
 * no pair: far > number
 * no pair: far > real
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char name[32], other[64], third[64], line[32], list[32] = "ab", printed[32];
static char text[32] = "12.5 key 7777",
	    same[32] = "12.5 key 7777tail"; /* what is near comes before what is far */
static volatile size_t size = 20;
static volatile long apart __attribute__((aligned(64)));

static void *first(void *argument)
{
	strcpy(name, argument);      /* @copy */
	memset(other, 'x', size);    /* @fill */
	memmove(third, other, size); /* @move */
	int ends[2];
	if (pipe(ends) == 0 && write(ends[1], "words", 6) == 6 &&
	    read(ends[0], line, sizeof line) == 6) /* @input */
		close(ends[0]), close(ends[1]);
	strcat(list, argument);                         /* @append */
	snprintf(printed, sizeof printed, "%s!", name); /* @print */
	memcpy(text + 2, ".5 k", 4);                    /* @near */
	memcpy(text + 13, "tail", size - 16);           /* @far */
	return argument;
}

/* Calls that stop where they have their answer, and some that must go to the end. */
static size_t search(void)
{
	size_t sum = strstr(text, "key") == text + 5;    /* @word */
	sum += strchr(text, 'y') == text + 7;            /* @character */
	sum += memmem(text, size, "key", 3) == text + 5; /* @block */
	sum += strspn(text, "0123456789. ") == 5;        /* @span */
	sum += strpbrk(text, "yek") == text + 5;         /* @break */
	sum += strcmp(text, "12.5 Key") > 0;             /* @differ */
	sum += strncasecmp(text, "12.5 KeX", size) > 0;  /* @nocase */
	sum += strtol(text, NULL, 10) == 12;             /* @number */
	sum += strtod(text, NULL) == 12.5;               /* @real */
	sum += strstr(text, "bell") == NULL;             /* @missing */
	sum += strspn(text, "12.5 key7tail") == 17;      /* @spanned */
	sum += strcmp(text, same) == 0;                  /* @same */
	return sum;
}

static void *second(void *argument)
{
	char copy[64];
	size_t sum = strlen(name);                   /* @length */
	sum += strcmp(name, "somebody") == 0;        /* @compare */
	memcpy(copy, other, size);                   /* @copied */
	sum += memchr(other, 'y', size) == NULL;     /* @find */
	sum += memcmp(third, copy, size) == 0;       /* @moved */
	strncpy(copy, name, size);                   /* @copied2 */
	sum += other[40] == 0;                       /* @beyond */
	sum += ((volatile char *)list)[3] == 'o';    /* @appended */
	sum += ((volatile char *)printed)[1] == 'o'; /* @printed */
	sum += (size_t)((char *)memchr(name, 's', (size_t)-1) - name);
	sum += (size_t)((char *)memchr(name, 'y', 1u << 30) - name);
	if (search() != 12)
		exit(1);
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
