/* Descriptors of light threads come from a pool that all execution streams
 * share, a stack without locks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NDESC    8
#define NSTREAMS 3
#define NROUNDS  4

struct desc {
    _Atomic(struct desc *) next;
    atomic_int             users;
    int                    id;
    long                   runs;
};

struct pool {
    _Atomic(struct desc *) top;
    atomic_long            taken, returned;
};

struct stream {
    int       id;
    int       shared;
    long      ran;
    pthread_t thread;
};

static struct desc descs[NDESC];
static struct pool pool;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static long total_ran;

static void pool_push(struct pool *p, struct desc *d)
{
    struct desc *top = atomic_load(&p->top);

    do {
        atomic_store_explicit(&d->next, top, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&p->top, &top, d));
    atomic_fetch_add_explicit(&p->returned, 1, memory_order_relaxed);
}

static struct desc *pool_pop(struct pool *p)
{
    struct desc *top = atomic_load(&p->top);
    struct desc *next;

    do {
        if (!top)
            return NULL;
        next = atomic_load_explicit(&top->next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&p->top, &top, next));
    atomic_fetch_add_explicit(&p->taken, 1, memory_order_relaxed);
    return top;
}

static struct desc *take(struct stream *s)
{
    struct desc *d = pool_pop(&pool);

    if (d && atomic_fetch_add(&d->users, 1) != 0)
        s->shared++;
    return d;
}

static void give(struct desc *d)
{
    if (!d)
        return;
    atomic_fetch_sub(&d->users, 1);
    pool_push(&pool, d);
}

static void run(struct stream *s, struct desc *d)
{
    if (!d)
        return;
    d->runs++;
    s->ran++;
}

/* A task starts a thread and ends before it. */
static void *stream_main(void *arg)
{
    struct stream *s = arg;

    for (int i = 0; i < NROUNDS; i++) {
        struct desc *task = take(s);
        struct desc *thread = take(s);

        run(s, task);
        give(task);
        run(s, thread);
        give(thread);
    }
    pthread_mutex_lock(&report_lock);
    total_ran += s->ran;
    pthread_mutex_unlock(&report_lock);
    return NULL;
}

int main(void)
{
    struct stream s[NSTREAMS];
    int nfree = 0, shared = 0;

    for (int i = NDESC - 1; i >= 0; i--) {
        descs[i].id = i;
        pool_push(&pool, &descs[i]);
    }
    for (int i = 0; i < NSTREAMS; i++) {
        s[i] = (struct stream){ .id = i };
        pthread_create(&s[i].thread, NULL, stream_main, &s[i]);
    }
    for (int i = 0; i < NSTREAMS; i++) {
        pthread_join(s[i].thread, NULL);
        shared += s[i].shared;
    }
    for (struct desc *d = pool.top; d && nfree <= NDESC; d = d->next)
        nfree++;
    printf("%ld ran, %d free, %d shared\n", total_ran, nfree, shared);
    if (nfree != NDESC || shared) {
        fprintf(stderr, "pool is corrupt\n");
        return 1;
    }
    return 0;
}
