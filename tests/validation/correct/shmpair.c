/* Two processes exchange messages through shared memory: a process-shared
 * mutex and condition guard the slot, a semaphore reports completion. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MSGS 40

struct channel {
    pthread_mutex_t m;
    pthread_cond_t c;
    sem_t finished;
    int full;
    int payload;
    long echo_sum;
};

static struct channel *channel_map(void)
{
    pthread_mutexattr_t ma;
    pthread_condattr_t ca;
    struct channel *ch = mmap(NULL, sizeof *ch, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ch == MAP_FAILED)
        exit(2);
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&ch->m, &ma);
    pthread_condattr_init(&ca);
    pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&ch->c, &ca);
    sem_init(&ch->finished, 1, 0);
    return ch;
}

static void put(struct channel *ch, int v)
{
    pthread_mutex_lock(&ch->m);
    while (ch->full)
        pthread_cond_wait(&ch->c, &ch->m);
    ch->payload = v;
    ch->full = 1;
    pthread_cond_broadcast(&ch->c);
    pthread_mutex_unlock(&ch->m);
}

static int get(struct channel *ch)
{
    pthread_mutex_lock(&ch->m);
    while (!ch->full)
        pthread_cond_wait(&ch->c, &ch->m);
    int v = ch->payload;
    ch->full = 0;
    pthread_cond_broadcast(&ch->c);
    pthread_mutex_unlock(&ch->m);
    return v;
}

static void child(struct channel *ch)
{
    for (int v; (v = get(ch)) >= 0;)
        ch->echo_sum += v;
    sem_post(&ch->finished);
    _exit(0);
}

int main(void)
{
    struct channel *ch = channel_map();
    pid_t pid = fork();
    int st;

    if (pid < 0)
        return 2;
    if (pid == 0)
        child(ch);
    for (int i = 0; i < MSGS; i++)
        put(ch, i);
    put(ch, -1);
    sem_wait(&ch->finished);
    long s = ch->echo_sum;
    waitpid(pid, &st, 0);
    printf("child summed %ld\n", s);
    return s == MSGS * (MSGS - 1) / 2 && st == 0 ? 0 : 1;
}
