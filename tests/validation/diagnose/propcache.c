/* Property cache of a script engine: filled by script threads, flushed by
 * the garbage collector. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define CACHE_SIZE 16
#define NSCRIPTS   2
#define NLOOKUPS   8
#define NGC        3

typedef struct { int shape; int id; int slot; } prop_entry;

typedef struct {
    pthread_mutex_t lock;
    prop_entry      table[CACHE_SIZE];
    int             empty;
    int             fills, flushes;
} prop_cache;

typedef struct {
    prop_cache  pcache;
    atomic_int  gc_number;
    atomic_int  hits, tests;
} runtime_t;

static runtime_t rt = { .pcache = { .lock = PTHREAD_MUTEX_INITIALIZER, .empty = 1 } };

static unsigned prop_hash(int shape, int id)
{
    return (unsigned)(shape * 7 + id) % CACHE_SIZE;
}

static void prop_cache_fill(prop_cache *c, int shape, int id, int slot)
{
    prop_entry *e = &c->table[prop_hash(shape, id)];

    pthread_mutex_lock(&c->lock);
    e->shape = shape;
    e->id = id;
    e->slot = slot;
    c->empty = 0;
    c->fills++;
    pthread_mutex_unlock(&c->lock);
}

static int prop_cache_test(prop_cache *c, int shape, int id)
{
    prop_entry *e = &c->table[prop_hash(shape, id)];
    int slot = -1;

    pthread_mutex_lock(&c->lock);
    if (e->shape == shape && e->id == id) {
        assert(!c->empty);
        slot = e->slot;
    }
    pthread_mutex_unlock(&c->lock);
    return slot;
}

static void prop_cache_clear_table(prop_cache *c)
{
    pthread_mutex_lock(&c->lock);
    memset(c->table, 0, sizeof c->table);
    c->flushes++;
    pthread_mutex_unlock(&c->lock);
}

static void prop_cache_set_empty(prop_cache *c)
{
    pthread_mutex_lock(&c->lock);
    c->empty = 1;
    pthread_mutex_unlock(&c->lock);
}

static void prop_cache_flush(prop_cache *c)
{
    int empty;

    pthread_mutex_lock(&c->lock);
    empty = c->empty;
    pthread_mutex_unlock(&c->lock);
    if (empty)
        return;
    prop_cache_clear_table(c);
    prop_cache_set_empty(c);
}

static void *script_main(void *arg)
{
    int shape = 1 + (int)(long)arg;

    for (int i = 0; i < NLOOKUPS; i++) {
        int id = 1 + i % 4;
        int slot = prop_cache_test(&rt.pcache, shape, id);

        atomic_fetch_add(&rt.tests, 1);
        if (slot < 0)
            prop_cache_fill(&rt.pcache, shape, id, id * 8);
        else
            atomic_fetch_add(&rt.hits, 1);
    }
    return NULL;
}

static void *gc_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NGC; i++) {
        atomic_fetch_add(&rt.gc_number, 1);
        prop_cache_flush(&rt.pcache);
    }
    return NULL;
}

int main(void)
{
    pthread_t s[NSCRIPTS], gc;
    int used = 0;

    for (long i = 0; i < NSCRIPTS; i++)
        pthread_create(&s[i], NULL, script_main, (void *)i);
    pthread_create(&gc, NULL, gc_main, NULL);
    for (int i = 0; i < NSCRIPTS; i++)
        pthread_join(s[i], NULL);
    pthread_join(gc, NULL);

    for (int i = 0; i < CACHE_SIZE; i++)
        used += rt.pcache.table[i].shape != 0;
    printf("gc %d tests %d hits %d fills %d used %d\n", atomic_load(&rt.gc_number),
           atomic_load(&rt.tests), atomic_load(&rt.hits), rt.pcache.fills, used);
    if (rt.pcache.empty && used) {
        fprintf(stderr, "property cache marked empty holds %d entries\n", used);
        return 1;
    }
    return 0;
}
