/* Threads that wait for ever in different calls are cancelled (deferred);
   each has cleanup handlers which give back what it holds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CREWS 5
#define ROUNDS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty, started;
static int quiet[2];
static int tools = CREWS * 2;   /* under lock */
static int refuelled;           /* under lock */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void give_back(void *arg)
{
    pthread_mutex_lock(&lock);
    tools += *(int *)arg;
    pthread_mutex_unlock(&lock);
}

static void unlock(void *arg) { pthread_mutex_unlock(arg); }

static void take(int n)
{
    pthread_mutex_lock(&lock);
    tools -= n;
    pthread_mutex_unlock(&lock);
}

static void *by_cond(void *arg)
{
    int n = 1;

    take(n);
    pthread_cleanup_push(give_back, &n);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    sem_post(&started);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return arg;
}

static void *by_read(void *arg)
{
    char *buf = malloc(64);
    int n = 2;

    if (!buf)
        die("malloc");
    take(n);
    pthread_cleanup_push(give_back, &n);
    pthread_cleanup_push(free, buf);
    sem_post(&started);
    for (;;)
        if (read(quiet[0], buf, 64) >= 0)
            die("nobody writes there");
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return arg;
}

static void *by_sem(void *arg)
{
    int n = 1;

    take(n);
    pthread_cleanup_push(give_back, &n);
    sem_post(&started);
    for (;;)
        if (sem_wait(&empty) == 0)
            die("nobody posts it");
    pthread_cleanup_pop(1);
    return arg;
}

static void *by_test(void *arg)
{
    volatile unsigned x = 1;
    int n = 2, i;

    take(n);
    pthread_cleanup_push(give_back, &n);
    sem_post(&started);
    for (;;) {
        for (i = 0; i < 2000; i++)
            x = x * 5 + 1;
        pthread_testcancel();
        sched_yield();
    }
    pthread_cleanup_pop(1);
    return arg;
}

/* Cannot be interrupted between the two halves of refuelling. */
static void *guarded(void *arg)
{
    int old, n = 1;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    take(n);
    pthread_cleanup_push(give_back, &n);
    sem_post(&started);
    pthread_mutex_lock(&lock);
    refuelled++;
    pthread_mutex_unlock(&lock);
    usleep(500);                /* would be a cancellation point */
    pthread_mutex_lock(&lock);
    refuelled++;
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(old, &old);
    for (;;)
        pause();
    pthread_cleanup_pop(1);
    return arg;
}

int main(void)
{
    void *(*crew[CREWS])(void *) =
        { by_cond, by_read, by_sem, by_test, guarded };
    int r, i, canceled = 0;

    if (pipe2(quiet, O_CLOEXEC) != 0)
        die("pipe2");
    sem_init(&empty, 0, 0);
    sem_init(&started, 0, 0);
    for (r = 0; r < ROUNDS; r++) {
        pthread_t t[CREWS];
        void *res;

        for (i = 0; i < CREWS; i++)
            if (pthread_create(&t[i], NULL, crew[i], NULL))
                die("pthread_create");
        if (r % 2)              /* else they may not even have begun */
            for (i = 0; i < CREWS; i++)
                while (sem_wait(&started) != 0) {
                }
        for (i = 0; i < CREWS; i++)
            pthread_cancel(t[i]);
        for (i = 0; i < CREWS; i++) {
            pthread_join(t[i], &res);
            canceled += res == PTHREAD_CANCELED;
        }
        while (sem_trywait(&started) == 0) {
        }
    }
    printf("cancelled %d, tools %d, refuelled %d\n", canceled, tools, refuelled);
    return canceled == CREWS * ROUNDS && tools == CREWS * 2 &&
           refuelled == 2 * ROUNDS ? 0 : 1;
}
