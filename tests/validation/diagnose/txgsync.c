#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NTXG 2

struct txg_state {
    pthread_mutex_t lock;
    pthread_cond_t done_cv;
    pthread_cond_t work_cv;
    unsigned long open;
    unsigned long synced;
    int waiters;
    int exiting;
};

struct client {
    pthread_t thread;
    unsigned long txg;
    int ok;
};

struct pool {
    struct txg_state tx;
    pthread_mutex_t stats_lock;
    unsigned long blocks;
};

static struct pool pool;

static unsigned write_blocks(unsigned long txg)
{
    unsigned sum = (unsigned)txg;
    int i;
    for (i = 0; i < 4000; i++)
        sum = sum * 31u + (unsigned)i;
    return sum;
}

static void account(struct pool *p, unsigned long n)
{
    pthread_mutex_lock(&p->stats_lock);
    p->blocks += n;
    pthread_mutex_unlock(&p->stats_lock);
}

static void txg_wait_synced(struct txg_state *tx, unsigned long txg)
{
    pthread_mutex_lock(&tx->lock);
    if (tx->open < txg)
        tx->open = txg;
    tx->waiters++;
    pthread_cond_signal(&tx->work_cv);
    while (tx->synced < txg)
        pthread_cond_wait(&tx->done_cv, &tx->lock);
    tx->waiters--;
    pthread_mutex_unlock(&tx->lock);
}

static void *txg_sync_thread(void *arg)
{
    struct pool *p = arg;
    struct txg_state *tx = &p->tx;
    pthread_mutex_lock(&tx->lock);
    for (;;) {
        unsigned long txg;
        while (tx->synced >= tx->open && !tx->exiting)
            pthread_cond_wait(&tx->work_cv, &tx->lock);
        if (tx->synced >= tx->open)
            break;
        txg = tx->synced + 1;
        pthread_mutex_unlock(&tx->lock);
        write_blocks(txg);
        account(p, 8);
        pthread_mutex_lock(&tx->lock);
        tx->synced = txg;
        if (tx->waiters > 0)
            pthread_cond_signal(&tx->done_cv);
    }
    pthread_mutex_unlock(&tx->lock);
    return NULL;
}

static void *client_main(void *arg)
{
    struct client *c = arg;
    account(&pool, c->txg);
    txg_wait_synced(&pool.tx, c->txg);
    c->ok = 1;
    return NULL;
}

int main(void)
{
    struct client c[NTXG] = { { .txg = 1 }, { .txg = 2 } };
    pthread_t syncer;
    int i;
    pthread_mutex_init(&pool.tx.lock, NULL);
    pthread_mutex_init(&pool.stats_lock, NULL);
    pthread_cond_init(&pool.tx.done_cv, NULL);
    pthread_cond_init(&pool.tx.work_cv, NULL);
    pthread_create(&syncer, NULL, txg_sync_thread, &pool);
    for (i = 0; i < NTXG; i++)
        pthread_create(&c[i].thread, NULL, client_main, &c[i]);
    for (i = 0; i < NTXG; i++)
        pthread_join(c[i].thread, NULL);
    pthread_mutex_lock(&pool.tx.lock);
    pool.tx.exiting = 1;
    pthread_cond_signal(&pool.tx.work_cv);
    pthread_mutex_unlock(&pool.tx.lock);
    pthread_join(syncer, NULL);
    printf("synced %lu, blocks %lu\n", pool.tx.synced, pool.blocks);
    return c[0].ok && c[1].ok && pool.blocks == 8 * NTXG + 3 ? 0 : 1;
}
