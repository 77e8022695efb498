/* The main thread leaves by pthread_exit; detached threads finish the work.
 * run: -> 0
 * pair: first > second
 * pair: second > third
 * threads: 4
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int value;
static sem_t turns[3];
static pthread_t main_thread;

static void *one(void *argument)
{
	sem_wait(&turns[0]);
	value = 1; /* @first */
	sem_post(&turns[1]);
	return argument;
}

static void *two(void *argument)
{
	sem_wait(&turns[1]);
	value = value * 10 + 2; /* @second */
	sem_post(&turns[2]);
	pthread_exit(argument);
}

static void *three(void *argument)
{
	sem_wait(&turns[2]);
	pthread_join(main_thread, NULL);
	printf("%d\n", value); /* @third */
	return argument;
}

int main(void)
{
	pthread_attr_t detached;
	pthread_t thread;
	main_thread = pthread_self();
	for (int i = 0; i < 3; i++)
		sem_init(&turns[i], 0, 0);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &detached, one, NULL);
	pthread_create(&thread, NULL, two, NULL);
	pthread_detach(thread);
	pthread_create(&thread, &detached, three, NULL);
	sem_post(&turns[0]);
	pthread_exit(NULL);
}
