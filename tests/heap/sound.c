/* A correct program that does with the heap what programs do: nothing here may be called
 * a memory fault in any schedule. */
#define _GNU_SOURCE
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	atomic_int users;
	int data[5];
};
static struct shared *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *message; /* under the lock */

static void let_go(struct shared *s)
{
	if (atomic_fetch_sub(&s->users, 1) == 1)
		free(s);
}

/* All that malloc_usable_size promises may be used. */
static void use_all(void)
{
	for (size_t size = 0; size < 200; size += 7) {
		char *block = malloc(size);
		memset(block, 1, malloc_usable_size(block));
		assert(malloc_usable_size(block) >= size);
		free(block);
	}
}

static void grow(void)
{
	int *numbers = NULL;
	for (int i = 0; i < 300; i++) {
		numbers = realloc(numbers, (size_t)(i + 1) * sizeof *numbers);
		numbers[i] = i;
	}
	for (int i = 0; i < 300; i++)
		assert(numbers[i] == i);
	numbers = realloc(numbers, 8);
	assert(numbers[1] == 1);
	numbers = realloc(numbers, 4000000);
	numbers[999999] = 4;
	assert(numbers[1] == 1);
	numbers = realloc(numbers, 8000000);
	numbers = realloc(numbers, 4);
	free(numbers);
	numbers = reallocarray(NULL, 10, 4);
	numbers[9] = 1;
	free(numbers);
}

static void aligned(void)
{
	for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
		void *a = aligned_alloc(alignment, 96), *b = NULL;
		assert(posix_memalign(&b, alignment, 33) == 0);
		assert((uintptr_t)a % alignment == 0 && (uintptr_t)b % alignment == 0);
		memset(a, 0, 96);
		memset(b, 0, 33);
		free(a);
		free(b);
	}
	char *page = valloc(100);
	memset(page, 1, 100);
	free(page);
}

/* What libc allocates and frees itself, and what it hands to the program. */
static void by_libc(void)
{
	char *line = NULL, *text = NULL;
	size_t room = 0, size = 0;
	FILE *memory = open_memstream(&text, &size);
	for (int i = 0; i < 20; i++)
		fprintf(memory, "a line that is the %d. of them\n", i);
	fclose(memory);
	FILE *in = fmemopen(text, size, "r");
	while (getline(&line, &room, in) > 0)
		assert(strlen(line) > 10 && line[0] == 'a');
	fclose(in);
	free(line);
	free(text);
	assert(asprintf(&text, "%d and %s", 12, "more") == 11);
	char *copy = strndup(text, 5);
	assert(strcmp(copy, "12 an") == 0);
	free(copy);
	free(text);
	regex_t expression;
	assert(regcomp(&expression, "a(b|c)*d", REG_EXTENDED) == 0);
	assert(regexec(&expression, "xxabcbcd", 0, NULL, 0) == 0);
	regfree(&expression);
}

/* Strings that fill their blocks, and some without an end that nobody needs. */
static void strings(void)
{
	for (size_t n = 1; n < 70; n += 3) {
		char *full = malloc(n);
		memset(full, 'x', n);
		assert(strnlen(full, n) == n && memchr(full, 'y', n) == NULL);
		assert(memchr(full, 'x', 10 * n) == full);
		assert(strncmp(full, "yes, it is another", 100) != 0);
		assert(strncmp(full, "abc", n) != 0);
		/* An answer that is there before the end. */
		full[n - 1] = '9';
		assert(strchr(full, '9') == full + n - 1 && strstr(full, "9") == full + n - 1);
		assert(strpbrk(full, "789") == full + n - 1 && strspn(full, "x") == n - 1);
		assert(memmem(full, n, "99", 2) == NULL && strcmp(full, "yes") != 0);
		full[n - 1] = 'x';
		assert(strtol(full, NULL, 10) == 0 && strtod(full, NULL) == 0);
		full[n - 1] = '\0';
		assert(strlen(full) == n - 1 && strchr(full, 'q') == NULL);
		char *again = strdup(full);
		assert(strcmp(again, full) == 0);
		char other[80];
		strcpy(other, full);
		snprintf(full, n, "%s", "a long text that does not fit into it, and is cut therefore");
		free(again);
		free(full);
	}
}

/* More freed blocks than anybody keeps. */
static void churn(void)
{
	char *some[64] = { NULL };
	for (unsigned i = 0; i < 4000; i++) {
		unsigned at = i * 2654435761u >> 26;
		free(some[at]);
		some[at] = calloc(1, i % 500 + 1);
		some[at][i % 500] = 1;
	}
	for (unsigned i = 0; i < 64; i++)
		free(some[i]);
}

/* An allocator of the program's own, in one block of libc's. */
static void pool(void)
{
	struct item {
		struct item *next;
		char rest[24];
	} *all = malloc(10 * sizeof *all), *spare = NULL;
	for (int i = 0; i < 10; i++) {
		all[i].next = spare;
		spare = &all[i];
	}
	for (int i = 0; i < 30; i++) {
		struct item *taken = spare;
		spare = taken->next;
		memset(taken, i, sizeof *taken);
		taken->next = spare;
		spare = taken;
	}
	free(all);
	free(NULL);
	free(realloc(malloc(3), 0));
	free(malloc(0));
}

static void child(void)
{
	char *before = malloc(50);
	pid_t pid = fork();
	if (pid == 0) {
		free(before);
		churn();
		grow();
		_exit(0);
	}
	int status;
	waitpid(pid, &status, 0);
	assert(status == 0);
	before[49] = 1;
	free(before);
}

static void *work(void *forks)
{
	shared->data[4]++;
	let_go(shared);
	use_all();
	grow();
	pthread_mutex_lock(&lock);
	free(message);
	message = strdup("from a thread");
	pthread_mutex_unlock(&lock);
	strings();
	if (forks)
		by_libc();
	pthread_mutex_lock(&lock);
	assert(strlen(message) >= 8);
	pthread_mutex_unlock(&lock);
	return malloc(10);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	(void)argv;
	message = strdup("from main");
	shared = malloc(sizeof *shared);
	shared->users = 2;
	memset(shared->data, 0, sizeof shared->data);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, i ? &lock : NULL);
	aligned();
	churn();
	pool();
	if (argc > 1)
		child();
	for (int i = 0; i < 2; i++) {
		char *block;
		pthread_join(threads[i], (void **)&block);
		block[9] = 1;
		free(block);
	}
	free(message);
	return 0;
}
