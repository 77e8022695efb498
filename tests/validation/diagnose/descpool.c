#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NDESC 4
#define NONE 0xffu
#define ROUNDS 12

struct desc {
    atomic_uint next;
    atomic_int busy;
    unsigned long used;
};

struct desc_pool {
    atomic_uint head;
    struct desc slots[NDESC];
    atomic_int misses;
};

struct worker {
    pthread_t thread;
    struct desc_pool *pool;
    unsigned seed;
    unsigned long done;
};

static void pool_init(struct desc_pool *p)
{
    unsigned i;
    for (i = 0; i < NDESC; i++)
        atomic_init(&p->slots[i].next, i + 1 < NDESC ? i + 1 : NONE);
    atomic_init(&p->head, 0);
}

static struct desc *pool_get(struct desc_pool *p)
{
    unsigned first = atomic_load(&p->head);
    while (first != NONE) {
        unsigned next = atomic_load(&p->slots[first].next);
        if (atomic_compare_exchange_strong(&p->head, &first, next))
            return &p->slots[first];
    }
    atomic_fetch_add(&p->misses, 1);
    return NULL;
}

static void pool_put(struct desc_pool *p, struct desc *d)
{
    unsigned idx = (unsigned)(d - p->slots);
    unsigned first = atomic_load(&p->head);
    do
        atomic_store(&d->next, first);
    while (!atomic_compare_exchange_strong(&p->head, &first, idx));
}

static struct desc *desc_open(struct desc_pool *p)
{
    struct desc *d = pool_get(p);
    if (d) {
        assert(atomic_exchange(&d->busy, 1) == 0);
        d->used++;
    }
    return d;
}

static void desc_close(struct desc_pool *p, struct desc *d)
{
    atomic_store(&d->busy, 0);
    pool_put(p, d);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    int i;
    for (i = 0; i < ROUNDS; i++) {
        struct desc *a = desc_open(w->pool);
        struct desc *b = desc_open(w->pool);
        if (a)
            desc_close(w->pool, a);
        if (b) {
            w->done++;
            desc_close(w->pool, b);
        }
    }
    return NULL;
}

int main(void)
{
    static struct desc_pool pool;
    static struct worker w[2];
    unsigned long used = 0;
    int i;
    pool_init(&pool);
    for (i = 0; i < 2; i++) {
        w[i].pool = &pool;
        pthread_create(&w[i].thread, NULL, worker_main, &w[i]);
    }
    for (i = 0; i < 2; i++)
        pthread_join(w[i].thread, NULL);
    for (i = 0; i < NDESC; i++)
        used += pool.slots[i].used;
    printf("%lu uses, %d misses\n", used, atomic_load(&pool.misses));
    return used + (unsigned)atomic_load(&pool.misses) == 4 * ROUNDS ? 0 : 1;
}
