#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NWORKERS 2
#define ROUNDS 3
#define PER_BATCH 4

struct arena;

struct batch {
    struct batch *next;
    struct arena *home;
    void *blocks[PER_BATCH];
    int nblocks;
};

struct list {
    pthread_mutex_t lock;
    struct batch *head;
};

struct arena {
    struct list returned;
    struct batch *spare;
    int collected;
    long reclaimed;
};

struct collector {
    struct list inbox;
    int expected;
    long total;
};

static struct collector gc = { .inbox = { PTHREAD_MUTEX_INITIALIZER, NULL } };
static struct arena arenas[NWORKERS];

static void list_put(struct list *l, struct batch *b)
{
    pthread_mutex_lock(&l->lock);
    b->next = l->head;
    l->head = b;
    pthread_mutex_unlock(&l->lock);
}

static struct batch *list_get(struct list *l)
{
    struct batch *b;
    pthread_mutex_lock(&l->lock);
    b = l->head;
    if (b != NULL)
        l->head = b->next;
    pthread_mutex_unlock(&l->lock);
    return b;
}

static void batch_recycle(struct arena *a, struct batch *b)
{
    memset(b, 0, sizeof *b);
    b->next = a->spare;
    a->spare = b;
    a->collected++;
}

static struct batch *batch_open(struct arena *a)
{
    struct batch *b = a->spare;
    if (b == NULL)
        return calloc(1, sizeof *b);
    a->spare = b->next;
    return b;
}

static void retire(struct arena *a, int round)
{
    struct batch *b = batch_open(a);
    b->home = a;
    while (b->nblocks < PER_BATCH)
        b->blocks[b->nblocks++] = malloc(16 + 8 * (size_t)round);
    list_put(&gc.inbox, b);
}

static void collect(struct arena *a)
{
    struct batch *b;
    while ((b = list_get(&a->returned)) != NULL)
        batch_recycle(a, b);
}

static void *worker_main(void *arg)
{
    struct arena *a = arg;
    int round;
    for (round = 0; round < ROUNDS; round++) {
        retire(a, round);
        collect(a);
    }
    while (a->collected < ROUNDS) {
        collect(a);
        sched_yield();
    }
    return NULL;
}

static void reclaim(struct collector *c, struct batch *b)
{
    int i;
    for (i = 0; i < b->nblocks; i++)
        free(b->blocks[i]);
    c->total += b->nblocks;
    list_put(&b->home->returned, b);
    b->home->reclaimed += PER_BATCH;
    c->expected--;
}

static void *collector_main(void *arg)
{
    struct collector *c = arg;
    struct batch *b;
    while (c->expected > 0) {
        b = list_get(&c->inbox);
        if (b != NULL)
            reclaim(c, b);
        else
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[NWORKERS + 1];
    long sum = 0;
    int i;
    gc.expected = NWORKERS * ROUNDS;
    for (i = 0; i < NWORKERS; i++)
        pthread_mutex_init(&arenas[i].returned.lock, NULL);
    pthread_create(&t[NWORKERS], NULL, collector_main, &gc);
    for (i = 0; i < NWORKERS; i++)
        pthread_create(&t[i], NULL, worker_main, &arenas[i]);
    for (i = 0; i <= NWORKERS; i++)
        pthread_join(t[i], NULL);
    for (i = 0; i < NWORKERS; i++)
        sum += arenas[i].reclaimed;
    printf("%ld blocks reclaimed, %ld in arenas\n", gc.total, sum);
    return sum != gc.total;
}
