/* Property cache of a script engine.  A script thread fills the cache, the
   collector empties it before objects are swept. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CACHE 16
#define NOBJ 8

struct js_object;

struct js_class {
    const char *name;
    int (*get)(const struct js_object *);
};

struct js_object {
    unsigned id;
    int marked;
    int value;
    const struct js_class *clasp;
};

struct prop_cache {
    _Atomic(struct js_object *) table[CACHE];
    atomic_int empty;
    atomic_int fills, flushes;
};

struct binding {
    const struct js_object *obj;
    const struct js_class *clasp;
};

static int plain_get(const struct js_object *o)
{
    return o->value;
}

static int proto_get(const struct js_object *o)
{
    return -(int)o->id;
}

static const struct js_class plain_class = { "Object", plain_get };
static const struct js_class proto_class = { "Prototype", proto_get };

static struct prop_cache cache;
static struct js_object heap[NOBJ];
static struct js_object proto = { 1000, 1, 0, &proto_class };

static unsigned cache_hash(unsigned id)
{
    return (id * 2654435761u >> 16) % CACHE;
}

static void cache_fill(struct js_object *o)
{
    atomic_store(&cache.table[cache_hash(o->id)], o);
    atomic_store(&cache.empty, 0);
    atomic_fetch_add(&cache.fills, 1);
}

static void cache_flush(void)
{
    int i;

    if (atomic_load(&cache.empty))
        return;
    for (i = 0; i < CACHE; i++)
        atomic_store(&cache.table[i], NULL);
    atomic_store(&cache.empty, 1);
    atomic_fetch_add(&cache.flushes, 1);
}

static void sweep(void)
{
    int i;

    for (i = 0; i < NOBJ; i++)
        if (!heap[i].marked) {
            heap[i].clasp = NULL;
            heap[i].value = 0;
        }
}

static void resolve(unsigned id, struct binding *b)
{
    struct js_object *o = atomic_load(&cache.table[cache_hash(id)]);

    b->obj = o && o->id == id ? o : &proto;
    b->clasp = b->obj->clasp;
}

static int evaluate(const struct binding *b)
{
    return b->clasp->get(b->obj);
}

static void *script_thread(void *arg)
{
    int i;

    (void)arg;
    for (i = 4; i < NOBJ; i++)
        cache_fill(&heap[i]);
    return NULL;
}

static void *idle_gc_thread(void *arg)
{
    (void)arg;
    cache_flush();
    return NULL;
}

int main(void)
{
    pthread_t ts, tg;
    struct binding bind[NOBJ];
    int i, sum = 0;

    atomic_store(&cache.empty, 1);
    for (i = 0; i < NOBJ; i++) {
        heap[i].id = (unsigned)i + 1;
        heap[i].marked = i < 4;
        heap[i].value = i * i;
        heap[i].clasp = &plain_class;
    }
    for (i = 0; i < 4; i++)
        cache_fill(&heap[i]);

    pthread_create(&tg, NULL, idle_gc_thread, NULL);
    pthread_create(&ts, NULL, script_thread, NULL);
    pthread_join(ts, NULL);
    pthread_join(tg, NULL);

    cache_flush();
    sweep();
    for (i = 0; i < NOBJ; i++)
        resolve(heap[i].id, &bind[i]);
    for (i = 0; i < NOBJ; i++)
        sum += evaluate(&bind[i]);
    printf("sum %d\n", sum);
    return 0;
}
