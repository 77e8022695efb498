#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NWORKERS 3
#define NBLOCKS 12
#define TUPLES 8

struct usage {
    unsigned blks_hit;
    unsigned blks_read;
};

struct parallel_state {
    pthread_mutex_t lock;
    pthread_cond_t detached;
    int next_block;
    int attached;
    long result;
    struct usage usage[NWORKERS];
};

struct worker {
    pthread_t tid;
    int slot;
    struct usage local;
    struct parallel_state *ps;
};

static int next_block(struct parallel_state *ps)
{
    int b = -1;
    pthread_mutex_lock(&ps->lock);
    if (ps->next_block < NBLOCKS)
        b = ps->next_block++;
    pthread_mutex_unlock(&ps->lock);
    return b;
}

static long scan_block(struct worker *w, int block)
{
    long sum = 0;
    int i;
    if (block % 3 == 0)
        w->local.blks_read++;
    else
        w->local.blks_hit++;
    for (i = 0; i < TUPLES; i++)
        sum += block * TUPLES + i;
    return sum;
}

static void send_result(struct parallel_state *ps, long sum)
{
    pthread_mutex_lock(&ps->lock);
    ps->result += sum;
    pthread_mutex_unlock(&ps->lock);
}

static void detach_queue(struct parallel_state *ps)
{
    pthread_mutex_lock(&ps->lock);
    ps->attached--;
    pthread_cond_signal(&ps->detached);
    pthread_mutex_unlock(&ps->lock);
}

static void report_usage(struct parallel_state *ps, struct worker *w)
{
    pthread_mutex_lock(&ps->lock);
    ps->usage[w->slot] = w->local;
    pthread_mutex_unlock(&ps->lock);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    int b;
    while ((b = next_block(w->ps)) >= 0) {
        long sum = scan_block(w, b);
        send_result(w->ps, sum);
    }
    detach_queue(w->ps);
    report_usage(w->ps, w);
    return NULL;
}

static long gather(struct parallel_state *ps)
{
    long total;
    pthread_mutex_lock(&ps->lock);
    while (ps->attached > 0)
        pthread_cond_wait(&ps->detached, &ps->lock);
    total = ps->result;
    pthread_mutex_unlock(&ps->lock);
    return total;
}

static void accumulate(struct parallel_state *ps, struct usage *sum)
{
    int i;
    pthread_mutex_lock(&ps->lock);
    for (i = 0; i < NWORKERS; i++) {
        sum->blks_hit += ps->usage[i].blks_hit;
        sum->blks_read += ps->usage[i].blks_read;
    }
    pthread_mutex_unlock(&ps->lock);
}

int main(void)
{
    struct parallel_state ps;
    struct worker w[NWORKERS];
    struct usage sum = { 0, 0 };
    long total;
    int i;
    memset(&ps, 0, sizeof ps);
    memset(w, 0, sizeof w);
    pthread_mutex_init(&ps.lock, NULL);
    pthread_cond_init(&ps.detached, NULL);
    ps.attached = NWORKERS;
    for (i = 0; i < NWORKERS; i++) {
        w[i].slot = i;
        w[i].ps = &ps;
        pthread_create(&w[i].tid, NULL, worker_main, &w[i]);
    }
    total = gather(&ps);
    accumulate(&ps, &sum);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(w[i].tid, NULL);
    pthread_cond_destroy(&ps.detached);
    pthread_mutex_destroy(&ps.lock);
    printf("sum %ld hit %u read %u\n", total, sum.blks_hit, sum.blks_read);
    return sum.blks_hit + sum.blks_read == NBLOCKS ? 0 : 1;
}
