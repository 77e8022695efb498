/* The bytes of a buffer are written in two contexts, at one place: what was written before the thread met
 * the other one is told from what it wrote after, though the bytes are next to each other.
 * run: -> 0
 * pair: put > get
 * edge contexts: put 2
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t asked, answered;
static int question;
static char text[8];

static __attribute__((noinline)) void put(char *to, int from, int end)
{
	for (int i = from; i < end; i++)
		to[i] = (char)('a' + i); /* @put */
}

static void *writer(void *unused)
{
	put(text, 0, 4);
	sem_post(&asked);
	sem_wait(&answered);
	put(text, 4, 4 + question);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int sum = 0;

	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	if (pthread_create(&thread, NULL, writer, NULL) != 0)
		return 1;
	sem_wait(&asked);
	question = 4;
	sem_post(&answered);
	pthread_join(thread, NULL);
	for (int i = 0; i < 8; i++)
		sum += text[i]; /* @get */
	printf("%d\n", sum);
	return 0;
}
