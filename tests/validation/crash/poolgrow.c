#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXWORKER 4
#define BLOCKS 6

struct job {
    int level;
    int block;
    struct job *next;
};

struct wstat {
    int jobs;
    unsigned long crc;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t tids[MAXWORKER];
    struct wstat *stats;
    struct job *jobs;
    int backlog;
    int nworkers;
    int stop;
};

struct worker_arg {
    struct pool *p;
    int slot;
};

static void *worker_main(void *arg);

static void pool_spawn(struct pool *p)
{
    struct worker_arg *wa = malloc(sizeof(*wa));
    wa->p = p;
    wa->slot = p->nworkers;
    pthread_create(&p->tids[wa->slot], NULL, worker_main, wa);
    p->nworkers++;
}

static void pool_submit(struct pool *p, int level, int block)
{
    struct job *j = calloc(1, sizeof(*j));
    j->level = level;
    j->block = block;
    pthread_mutex_lock(&p->lock);
    j->next = p->jobs;
    p->jobs = j;
    p->backlog++;
    if (!p->stop && p->backlog > 2 && p->nworkers < MAXWORKER)
        pool_spawn(p);
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static unsigned long crc_block(int block)
{
    unsigned long crc = 5381;
    for (int i = 0; i < 200; i++)
        crc = crc * 33 + (unsigned)(block + i);
    return crc;
}

static unsigned long run_job(struct pool *p, struct job *j)
{
    if (j->level > 0) {
        for (int i = 0; i < BLOCKS; i++)
            pool_submit(p, j->level - 1, j->block * BLOCKS + i);
    }
    return crc_block(j->block);
}

static void *worker_main(void *arg)
{
    struct worker_arg wa = *(struct worker_arg *)arg;
    struct pool *p = wa.p;
    free(arg);
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->jobs == NULL && !p->stop)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->jobs == NULL)
            break;
        struct job *j = p->jobs;
        p->jobs = j->next;
        p->backlog--;
        pthread_mutex_unlock(&p->lock);
        unsigned long crc = run_job(p, j);
        free(j);
        pthread_mutex_lock(&p->lock);
        p->stats[wa.slot].jobs++;
        p->stats[wa.slot].crc ^= crc;
    }
    struct wstat *st = &p->stats[wa.slot];
    printf("worker %d: %d jobs\n", wa.slot, st->jobs);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int pool_size(struct pool *p)
{
    int n;
    pthread_mutex_lock(&p->lock);
    n = p->nworkers;
    pthread_mutex_unlock(&p->lock);
    return n;
}

static void pool_stop(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = 1;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static unsigned long pool_finish(struct pool *p)
{
    unsigned long crc = 0;
    int n = pool_size(p);
    pool_stop(p);
    for (int i = 0; i < n; i++)
        pthread_join(p->tids[i], NULL);
    for (int i = 0; i < n; i++)
        crc ^= p->stats[i].crc;
    free(p->stats);
    p->stats = NULL;
    return crc;
}

int main(void)
{
    static struct pool pool;
    unsigned long crc;

    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pool.stats = calloc(MAXWORKER, sizeof(*pool.stats));
    pthread_mutex_lock(&pool.lock);
    pool_spawn(&pool);
    pthread_mutex_unlock(&pool.lock);

    pool_submit(&pool, 1, 0);
    crc = pool_finish(&pool);
    printf("crc %lx\n", crc);
    return 0;
}
