/* Worker threads of a server take memory pools from a list of recycled ones
   and give them back after each connection. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOLS 4
#define WORKERS 2
#define CONNS 6

struct pool {
    _Atomic(struct pool *) next;
    atomic_int owner;
    size_t used;
    char mem[256];
};

struct worker {
    pthread_t tid;
    int id;
    struct pool *log;           /* kept while the worker lives */
    unsigned long bytes;
};

static _Atomic(struct pool *) recycled;
static atomic_int created;

static void pool_push(struct pool *p)
{
    struct pool *first = atomic_load(&recycled);

    do {
        atomic_store(&p->next, first);
    } while (!atomic_compare_exchange_weak(&recycled, &first, p));
}

static struct pool *pool_pop(void)
{
    struct pool *first, *next;

    for (;;) {
        first = atomic_load(&recycled);
        if (!first)
            return NULL;
        next = atomic_load(&first->next);
        if (atomic_compare_exchange_strong(&recycled, &first, next))
            return first;
    }
}

static struct pool *pool_get(int id)
{
    struct pool *p = pool_pop();

    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p)
            exit(1);
        atomic_fetch_add(&created, 1);
    }
    assert(atomic_load(&p->owner) == 0);
    atomic_store(&p->owner, id);
    p->used = 0;
    return p;
}

static void pool_put(struct pool *p)
{
    atomic_store(&p->owner, 0);
    pool_push(p);
}

static char *pool_printf(struct pool *p, const char *what, int n)
{
    char *at = p->mem + p->used;
    size_t room = sizeof p->mem - p->used;

    p->used += (size_t)snprintf(at, room, "%s %d", what, n) + 1;
    return at;
}

static void *worker(void *arg)
{
    struct worker *w = arg;
    struct pool *conn;
    int i;

    for (i = 0; i < CONNS; i++) {
        conn = pool_get(w->id);
        w->bytes += strlen(pool_printf(conn, "connection", i));
        if (!w->log)
            w->log = pool_get(w->id);
        w->bytes += strlen(pool_printf(w->log, "log", i));
        pool_put(conn);
    }
    pool_put(w->log);
    return NULL;
}

int main(void)
{
    struct worker w[WORKERS];
    struct pool *p;
    unsigned long bytes = 0;
    int i, n = 0;

    for (i = 0; i < POOLS; i++) {
        p = calloc(1, sizeof *p);
        if (!p)
            return 1;
        pool_push(p);
    }
    for (i = 0; i < WORKERS; i++) {
        w[i].id = i + 1;
        w[i].log = NULL;
        w[i].bytes = 0;
        pthread_create(&w[i].tid, NULL, worker, &w[i]);
    }
    for (i = 0; i < WORKERS; i++) {
        pthread_join(w[i].tid, NULL);
        bytes += w[i].bytes;
    }
    while (n < 100 && (p = pool_pop()) != NULL)
        n++;
    printf("%lu bytes, %d pools, %d created\n", bytes, n, atomic_load(&created));
    return 0;
}
