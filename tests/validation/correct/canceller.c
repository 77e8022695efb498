/* Cancellation: one thread is cancelled in a condition wait, one in a
   blocking read of a pipe, one asynchronously in a computation.  Cleanup
   handlers give back what the threads hold. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t up;
static int cleaned[3];
static int stop_flag;
static int pipefd[2];
static volatile unsigned long scratch;

static void clean_cond(void *arg)
{
    cleaned[0]++;
    free(arg);
    pthread_mutex_unlock(&lock);
}

static void clean_plain(void *arg)
{
    ++*(int *)arg;
}

static void *cond_waiter(void *arg)
{
    char *buf;

    (void)arg;
    pthread_mutex_lock(&lock);
    buf = malloc(100);
    pthread_cleanup_push(clean_cond, buf);
    sem_post(&up);
    while (!stop_flag)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

static void *pipe_reader(void *arg)
{
    char c;

    (void)arg;
    pthread_cleanup_push(clean_plain, &cleaned[1]);
    sem_post(&up);
    while (read(pipefd[0], &c, 1) != 1)
        ;
    pthread_cleanup_pop(1);
    return NULL;
}

static void *cruncher(void *arg)
{
    int old, i;

    (void)arg;
    pthread_cleanup_push(clean_plain, &cleaned[2]);
    sem_post(&up);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (i = 0; i < 3000000; i++)
        scratch = scratch * 3 + 1;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
    for (;;)
        pause();
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    void *(*fn[3])(void *) = { cond_waiter, pipe_reader, cruncher };
    pthread_t t[3];
    int i, canceled = 0;
    void *r;

    if (pipe(pipefd) != 0)
        return 2;
    sem_init(&up, 0, 0);
    for (i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, fn[i], NULL);
    for (i = 0; i < 3; i++)
        while (sem_wait(&up) != 0)
            ;
    for (i = 2; i >= 0; i--)
        pthread_cancel(t[i]);
    for (i = 0; i < 3; i++) {
        pthread_join(t[i], &r);
        canceled += r == PTHREAD_CANCELED;
    }
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    close(pipefd[0]);
    close(pipefd[1]);
    printf("canceled %d, cleaned %d %d %d\n", canceled, cleaned[0], cleaned[1], cleaned[2]);
    return canceled == 3 && cleaned[0] == 1 && cleaned[1] == 1 && cleaned[2] == 1 ? 0 : 1;
}
