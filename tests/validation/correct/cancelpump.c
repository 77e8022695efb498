/* Pumps that run until they are cancelled; cleanup handlers give back the lock
 * and free the buffer. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PUMPS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int pending, waiting, cleaned, freed;
static long pumped;

static void free_buffer(void *p)
{
    free(p);
    pthread_mutex_lock(&lock);
    freed++;
    pthread_mutex_unlock(&lock);
}

static void leave(void *arg)
{
    (void)arg;
    waiting--;
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void *pump(void *arg)
{
    char *buffer = malloc(128);

    (void)arg;
    pthread_cleanup_push(free_buffer, buffer);
    for (;;) {
        pthread_mutex_lock(&lock);
        waiting++;
        pthread_cleanup_push(leave, NULL);
        while (pending == 0) {
            if (waiting == PUMPS)
                pthread_cond_signal(&idle);
            pthread_cond_wait(&work, &lock);
        }
        pending--;
        pumped++;
        pthread_cleanup_pop(0);
        waiting--;
        pthread_mutex_unlock(&lock);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    pthread_t t[PUMPS];
    int cancelled = 0;

    for (int i = 0; i < PUMPS; i++)
        pthread_create(&t[i], NULL, pump, NULL);
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        pending++;
        pthread_cond_signal(&work);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    while (pending > 0 || waiting < PUMPS)
        pthread_cond_wait(&idle, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < PUMPS; i++)
        pthread_cancel(t[i]);
    for (int i = 0; i < PUMPS; i++) {
        void *r;

        pthread_join(t[i], &r);
        cancelled += r == PTHREAD_CANCELED;
    }
    printf("%ld pumped, %d cancelled, %d cleaned, %d freed\n", pumped, cancelled, cleaned, freed);
    return pumped == 20 && cancelled == PUMPS && cleaned == PUMPS && freed == PUMPS ? 0 : 1;
}
