/* A semaphore posted in a signal handler; a worker thread waits for it. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5

static sem_t tick;
static sem_t served;
static long table[ROUNDS];

static void handler(int sig)
{
    (void)sig;
    int e = errno;
    sem_post(&tick);
    errno = e;
}

static void wait_sem(sem_t *s)
{
    while (sem_wait(s) != 0 && errno == EINTR)
        ;
}

static void *worker(void *arg)
{
    long *sum = arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        wait_sem(&tick);
        *sum += table[i];
        sem_post(&served);
    }
    return NULL;
}

int main(void)
{
    struct sigaction sa;
    pthread_t w;
    long sum = 0;

    sem_init(&tick, 0, 0);
    sem_init(&served, 0, 0);
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = handler;
    sa.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &sa, NULL);
    pthread_create(&w, NULL, worker, &sum);
    for (int i = 0; i < ROUNDS; i++) {
        table[i] = (i + 1) * 11;
        raise(SIGALRM);
        wait_sem(&served);
    }
    pthread_join(w, NULL);
    printf("sum %ld\n", sum);
    return sum == 165 ? 0 : 1;
}
