#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#define NROWS 32
#define NHASH 16
#define NREADERS 2
#define NLOOKUPS 6
#define NPASSES 3

struct row {
    int key;
    int value;
    int version;
};

struct hash_index {
    pthread_mutex_t latch;
    int slot[NHASH];
    unsigned hits;
    unsigned rebuilds;
};

struct engine {
    sem_t tickets;
    struct row rows[NROWS];
    struct hash_index index;
};

struct reader {
    pthread_t tid;
    struct engine *engine;
    int seed;
    long sum;
};

static void conc_enter(struct engine *e)
{
    while (sem_wait(&e->tickets) != 0)
        continue;
}

static void conc_exit(struct engine *e)
{
    sem_post(&e->tickets);
}

static int find_row(struct engine *e, int key)
{
    int i;
    for (i = 0; i < NROWS; i++) {
        if (e->rows[i].key == key)
            return i;
    }
    return -1;
}

static int search(struct engine *e, int key)
{
    int value = -1;
    int pos;
    conc_enter(e);
    pthread_mutex_lock(&e->index.latch);
    pos = e->index.slot[key % NHASH];
    if (pos >= 0 && e->rows[pos].key == key)
        e->index.hits++;
    else
        pos = find_row(e, key);
    if (pos >= 0)
        value = e->rows[pos].value;
    pthread_mutex_unlock(&e->index.latch);
    conc_exit(e);
    return value;
}

static void refresh_rows(struct engine *e, int pass)
{
    int i;
    conc_enter(e);
    for (i = pass; i < NROWS; i += 4)
        e->rows[i].version++;
    conc_exit(e);
}

static void rebuild_index(struct engine *e, int pass)
{
    int i;
    pthread_mutex_lock(&e->index.latch);
    refresh_rows(e, pass);
    for (i = 0; i < NHASH; i++)
        e->index.slot[i] = -1;
    for (i = pass; i < NROWS; i += 2)
        e->index.slot[e->rows[i].key % NHASH] = i;
    e->index.rebuilds++;
    pthread_mutex_unlock(&e->index.latch);
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    int i;
    for (i = 0; i < NLOOKUPS; i++)
        r->sum += search(r->engine, (r->seed + i * 5) % NROWS);
    return NULL;
}

static void *purge_main(void *arg)
{
    struct engine *e = arg;
    int i;
    for (i = 0; i < NPASSES; i++)
        rebuild_index(e, i);
    return NULL;
}

int main(void)
{
    static struct engine e;
    struct reader r[NREADERS];
    pthread_t purge;
    long sum = 0;
    int i;
    sem_init(&e.tickets, 0, 1);
    pthread_mutex_init(&e.index.latch, NULL);
    for (i = 0; i < NROWS; i++) {
        e.rows[i].key = i;
        e.rows[i].value = i * 3;
    }
    rebuild_index(&e, 0);
    for (i = 0; i < NREADERS; i++) {
        r[i].engine = &e;
        r[i].seed = i * 7;
        r[i].sum = 0;
        pthread_create(&r[i].tid, NULL, reader_main, &r[i]);
    }
    pthread_create(&purge, NULL, purge_main, &e);
    for (i = 0; i < NREADERS; i++) {
        pthread_join(r[i].tid, NULL);
        sum += r[i].sum;
    }
    pthread_join(purge, NULL);
    printf("sum %ld rebuilds %u\n", sum, e.index.rebuilds);
    pthread_mutex_destroy(&e.index.latch);
    sem_destroy(&e.tickets);
    return e.index.rebuilds == NPASSES + 1 ? 0 : 1;
}
