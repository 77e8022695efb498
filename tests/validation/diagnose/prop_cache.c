#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CACHE_SIZE 16
#define NSCOPES 3
#define NPROPS 5
#define NCYCLES 4

struct property {
    int scope;
    int id;
    int slot;
};

struct entry {
    const struct property *prop;
    unsigned hits;
};

struct prop_cache {
    pthread_mutex_t lock;
    struct entry table[CACHE_SIZE];
    int empty;
    unsigned fills;
    unsigned flushes;
};

static struct property props[NSCOPES][NPROPS];
static struct prop_cache pc = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .empty = 1
};

static unsigned prop_hash(int scope, int id)
{
    return (unsigned)(scope * 7 + id * 3) % CACHE_SIZE;
}

static void cache_put(struct prop_cache *c, const struct property *p)
{
    struct entry *e = &c->table[prop_hash(p->scope, p->id)];
    pthread_mutex_lock(&c->lock);
    e->prop = p;
    e->hits = 0;
    c->fills++;
    pthread_mutex_unlock(&c->lock);
}

static void cache_set_empty(struct prop_cache *c, int value)
{
    pthread_mutex_lock(&c->lock);
    c->empty = value;
    pthread_mutex_unlock(&c->lock);
}

static int cache_is_empty(struct prop_cache *c)
{
    int value;
    pthread_mutex_lock(&c->lock);
    value = c->empty;
    pthread_mutex_unlock(&c->lock);
    return value;
}

static void cache_clear(struct prop_cache *c)
{
    pthread_mutex_lock(&c->lock);
    memset(c->table, 0, sizeof c->table);
    c->flushes++;
    pthread_mutex_unlock(&c->lock);
}

static void cache_fill(struct prop_cache *c, const struct property *p)
{
    cache_put(c, p);
    cache_set_empty(c, 0);
}

static void cache_flush(struct prop_cache *c)
{
    if (cache_is_empty(c))
        return;
    cache_clear(c);
    cache_set_empty(c, 1);
}

static const struct property *cache_test(struct prop_cache *c, int scope, int id)
{
    struct entry *e = &c->table[prop_hash(scope, id)];
    const struct property *p;
    pthread_mutex_lock(&c->lock);
    p = e->prop;
    if (p && (p->scope != scope || p->id != id))
        p = NULL;
    if (p)
        e->hits++;
    pthread_mutex_unlock(&c->lock);
    return p;
}

static int lookup(int scope, int id)
{
    const struct property *p = cache_test(&pc, scope, id);
    if (!p) {
        p = &props[scope][id];
        cache_fill(&pc, p);
    }
    return p->slot;
}

static void *script_main(void *arg)
{
    long *sum = arg;
    int i;
    for (i = 0; i < NPROPS; i++)
        *sum += lookup(i % NSCOPES, i);
    for (i = 0; i < NPROPS; i++)
        *sum += lookup((i + 1) % NSCOPES, i);
    return NULL;
}

static void *gc_main(void *arg)
{
    int i;
    (void)arg;
    for (i = 0; i < NCYCLES; i++)
        cache_flush(&pc);
    return NULL;
}

int main(void)
{
    pthread_t script;
    pthread_t gc;
    long sum = 0;
    int live = 0;
    int i;
    for (i = 0; i < NSCOPES * NPROPS; i++) {
        struct property *p = &props[i / NPROPS][i % NPROPS];
        p->scope = i / NPROPS;
        p->id = i % NPROPS;
        p->slot = i * 2;
    }
    pthread_create(&script, NULL, script_main, &sum);
    pthread_create(&gc, NULL, gc_main, NULL);
    pthread_join(script, NULL);
    pthread_join(gc, NULL);
    cache_flush(&pc);
    for (i = 0; i < CACHE_SIZE; i++) {
        if (pc.table[i].prop)
            live++;
    }
    printf("sum %ld fills %u live %d\n", sum, pc.fills, live);
    return live == 0 ? 0 : 1;
}
