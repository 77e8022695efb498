/* Property lookups of a script interpreter. Values found in the object are kept
 * in a property cache; assigning to a property flushes the cache. A flush is a
 * walk over the whole table, so an unfilled cache is left alone. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../pause.h"

#define PROPERTIES 6
#define CACHE_SLOTS 32
#define PASSES 12
#define ASSIGNMENTS 8

struct entry {
    int key; /* property number + 1, 0 when the slot is free */
    long value;
};

struct property_cache {
    int filled;
    struct entry entry[CACHE_SLOTS];
};

struct statistics {
    pthread_mutex_t lock;
    long hits;
    long misses;
};

struct interpreter {
    pthread_mutex_t object_lock;
    long property[PROPERTIES];
    struct property_cache cache;
    struct statistics stats;
};

static struct entry *cache_slot(struct property_cache *c, int key)
{
    return &c->entry[(unsigned)key * 7u % CACHE_SLOTS];
}

static void cache_put(struct property_cache *c, int key, long value)
{
    struct entry *e = cache_slot(c, key);

    e->key = key;
    e->value = value;
}

static void cache_flush(struct property_cache *c)
{
    if (!c->filled)
        return;
    memset(c->entry, 0, sizeof c->entry);
    c->filled = 0;
}

static void count_lookup(struct statistics *s, int hit)
{
    pthread_mutex_lock(&s->lock);
    if (hit)
        s->hits++;
    else
        s->misses++;
    pthread_mutex_unlock(&s->lock);
}

/* Looks in the cache first; fills it from the object on a miss. */
static long get_property(struct interpreter *in, int index)
{
    int key = index + 1;
    long value;

    pthread_mutex_lock(&in->object_lock);
    struct entry *e = cache_slot(&in->cache, key);
    if (e->key == key) {
        value = e->value;
        pthread_mutex_unlock(&in->object_lock);
        count_lookup(&in->stats, 1);
        return value;
    }
    value = in->property[index];
    cache_put(&in->cache, key, value);
    pthread_mutex_unlock(&in->object_lock);
    count_lookup(&in->stats, 0); PAUSE(90);
    in->cache.filled = 1;
    return value;
}

static void set_property(struct interpreter *in, int index, long value)
{
    pthread_mutex_lock(&in->object_lock);
    in->property[index] = value;
    cache_flush(&in->cache);
    pthread_mutex_unlock(&in->object_lock);
}

static long work(long x, int rounds)
{
    uint64_t v = (uint64_t)x + 88172645463325252u;

    for (int i = 0; i < rounds; i++) {
        v ^= v << 13;
        v ^= v >> 7;
        v ^= v << 17;
    }
    return (long)(v & 0xffff);
}

/* Evaluates the page's expressions over and over. */
static void *page_main(void *arg)
{
    struct interpreter *in = arg;
    long total = 0;

    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < PROPERTIES; i++)
            total += work(get_property(in, i) + total, 800);
    return (void *)(uintptr_t)(total != 0);
}

/* An event handler that assigns to properties. */
static void *handler_main(void *arg)
{
    struct interpreter *in = arg; PAUSE(30);
    long value = 1;

    for (int i = 0; i < ASSIGNMENTS; i++) {
        value = work(value + i, 6000);
        set_property(in, i % 4, value);
    }
    return NULL;
}

int main(void)
{
    static struct interpreter in = {
        .object_lock = PTHREAD_MUTEX_INITIALIZER,
        .stats.lock = PTHREAD_MUTEX_INITIALIZER,
    };
    pthread_t page, handler;
    int wrong = 0;

    for (int i = 0; i < PROPERTIES; i++)
        in.property[i] = 1000 + i;
    if (pthread_create(&page, NULL, page_main, &in) != 0 ||
        pthread_create(&handler, NULL, handler_main, &in) != 0)
        return 2;
    pthread_join(page, NULL);
    pthread_join(handler, NULL);

    for (int i = 0; i < PROPERTIES; i++) {
        long value = get_property(&in, i);
        if (value != in.property[i]) {
            fprintf(stderr, "property %d is %ld, evaluated to %ld\n", i, in.property[i], value);
            wrong++;
        }
    }
    if (wrong > 0)
        return 1;
    for (int i = 0; i < 4; i++)
        printf("property %d = %ld\n", i, in.property[i]);
    return 0;
}
