/* Thread pool whose jobs may post new jobs; stops when it is told to and the
 * queue has run dry. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 3

struct job {
    int         depth;
    struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *queue;
static int busy, stopping;
static long ran;

static void post(int depth)
{
    struct job *j = malloc(sizeof *j);

    if (!j)
        abort();
    j->depth = depth;
    pthread_mutex_lock(&lock);
    j->next = queue;
    queue = j;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        struct job *j;

        /* a busy worker may still post */
        while (!queue && !(stopping && busy == 0))
            pthread_cond_wait(&changed, &lock);
        if (!queue)
            break;
        j = queue;
        queue = j->next;
        busy++;
        pthread_mutex_unlock(&lock);

        for (int i = 0; i < j->depth; i++)
            post(i);
        free(j);

        pthread_mutex_lock(&lock);
        busy--;
        ran++;
        if (busy == 0 && !queue)
            pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[WORKERS];

    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        post(3 + i);
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    printf("%ld jobs\n", ran);
    return ran == 8 + 16 + 32 ? 0 : 1;
}
