/* Two forked consumer processes and two producer threads of the parent
   share a ring in an anonymous shared mapping: process-shared mutex,
   condition variables and a semaphore. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 4
#define ITEMS 60
#define NCONS 2
#define NPROD 2

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    sem_t started;
    int ring[SLOTS];
    int head, count, closed;
    long sum;
    int taken;
};

static struct shared *sh;

static void consume(void)
{
    sem_post(&sh->started);
    pthread_mutex_lock(&sh->lock);
    for (;;) {
        while (sh->count == 0 && !sh->closed)
            pthread_cond_wait(&sh->not_empty, &sh->lock);
        if (sh->count == 0)
            break;
        sh->sum += sh->ring[sh->head];
        sh->head = (sh->head + 1) % SLOTS;
        sh->count--;
        sh->taken++;
        pthread_cond_signal(&sh->not_full);
    }
    pthread_mutex_unlock(&sh->lock);
}

static void *produce(void *arg)
{
    int base = *(int *)arg, i;

    for (i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&sh->lock);
        while (sh->count == SLOTS)
            pthread_cond_wait(&sh->not_full, &sh->lock);
        sh->ring[(sh->head + sh->count) % SLOTS] = base + i;
        sh->count++;
        pthread_cond_signal(&sh->not_empty);
        pthread_mutex_unlock(&sh->lock);
    }
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t ma;
    pthread_condattr_t ca;
    pthread_t t[NPROD];
    pid_t pid[NCONS];
    int base[NPROD] = { 0, 1000 }, i, st, bad = 0;

    sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sh == MAP_FAILED)
        return 2;
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&sh->lock, &ma);
    pthread_condattr_init(&ca);
    pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&sh->not_full, &ca);
    pthread_cond_init(&sh->not_empty, &ca);
    sem_init(&sh->started, 1, 0);
    for (i = 0; i < NCONS; i++) {
        pid[i] = fork();
        if (pid[i] < 0)
            return 2;
        if (pid[i] == 0) {
            consume();
            _exit(0);
        }
    }
    for (i = 0; i < NCONS; i++)
        while (sem_wait(&sh->started) != 0 && errno == EINTR)
            ;
    for (i = 0; i < NPROD; i++)
        pthread_create(&t[i], NULL, produce, &base[i]);
    for (i = 0; i < NPROD; i++)
        pthread_join(t[i], NULL);
    pthread_mutex_lock(&sh->lock);
    sh->closed = 1;
    pthread_cond_broadcast(&sh->not_empty);
    pthread_mutex_unlock(&sh->lock);
    for (i = 0; i < NCONS; i++) {
        while (waitpid(pid[i], &st, 0) < 0 && errno == EINTR)
            ;
        if (!WIFEXITED(st) || WEXITSTATUS(st) != 0)
            bad++;
    }
    printf("taken %d, sum %ld, bad %d\n", sh->taken, sh->sum, bad);
    return sh->taken == ITEMS * NPROD && sh->sum == 63540 && !bad ? 0 : 1;
}
