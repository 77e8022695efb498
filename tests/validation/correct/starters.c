/* 300 threads wait at a gate which one broadcast opens; then each takes a
   number and the last one out wakes main. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NT 300

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static int waiting, open_gate, out;
static int place[NT];

static void *runner(void *arg)
{
    int no = *(int *)arg;

    pthread_mutex_lock(&lock);
    if (++waiting == NT)
        pthread_cond_signal(&ready);
    while (!open_gate)
        pthread_cond_wait(&gate, &lock);
    place[no] = ++out;
    if (out == NT)
        pthread_cond_signal(&finished);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    static pthread_t t[NT];
    static int no[NT], seen[NT + 1];
    pthread_attr_t a;
    long sum = 0;
    int i, dup = 0;

    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 128 * 1024);
    for (i = 0; i < NT; i++) {
        no[i] = i;
        if (pthread_create(&t[i], &a, runner, &no[i]) != 0) {
            perror("pthread_create");
            return 2;
        }
    }
    pthread_mutex_lock(&lock);
    while (waiting < NT)
        pthread_cond_wait(&ready, &lock);
    open_gate = 1;
    pthread_cond_broadcast(&gate);
    while (out < NT)
        pthread_cond_wait(&finished, &lock);
    pthread_mutex_unlock(&lock);
    for (i = 0; i < NT; i++)
        pthread_join(t[i], NULL);
    for (i = 0; i < NT; i++) {
        sum += place[i];
        dup += seen[place[i]]++;
    }
    printf("threads %d, sum %ld, duplicates %d\n", NT, sum, dup);
    return sum == 45150 && dup == 0 ? 0 : 1;
}
