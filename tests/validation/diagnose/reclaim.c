#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define NBUFS 3
#define NINSERTS 4
#define NPACKETS 5

struct buffer {
    struct buffer *next;
    int data;
};

struct pool {
    pthread_mutex_t lock;
    struct buffer bufs[NBUFS];
    struct buffer *free;
    int (*shrink)(void);
    unsigned long shrinks;
};

struct cache {
    pthread_mutex_t lock;
    struct buffer *entries;
    int count;
    unsigned long inserted;
    unsigned long trimmed;
};

static struct pool pool = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct buffer *pool_try(void)
{
    struct buffer *b;
    pthread_mutex_lock(&pool.lock);
    b = pool.free;
    if (b != NULL)
        pool.free = b->next;
    pthread_mutex_unlock(&pool.lock);
    return b;
}

static void pool_put(struct buffer *b)
{
    pthread_mutex_lock(&pool.lock);
    b->next = pool.free;
    pool.free = b;
    pthread_mutex_unlock(&pool.lock);
}

static struct buffer *pool_get(void)
{
    struct buffer *b;
    while ((b = pool_try()) == NULL) {
        __atomic_fetch_add(&pool.shrinks, 1, __ATOMIC_RELAXED);
        if (pool.shrink() == 0)
            sched_yield();
    }
    return b;
}

static int cache_shrink(void)
{
    struct buffer *b;
    pthread_mutex_lock(&cache.lock);
    b = cache.entries;
    if (b != NULL) {
        cache.entries = b->next;
        cache.count--;
        cache.trimmed++;
    }
    pthread_mutex_unlock(&cache.lock);
    if (b == NULL)
        return 0;
    pool_put(b);
    return 1;
}

static void cache_insert(int data)
{
    struct buffer *b, *old = NULL;
    pthread_mutex_lock(&cache.lock);
    b = pool_get();
    b->data = data;
    if (cache.count > 0) {
        old = cache.entries;
        cache.entries = old->next;
        cache.count--;
    }
    b->next = cache.entries;
    cache.entries = b;
    cache.count++;
    cache.inserted++;
    pthread_mutex_unlock(&cache.lock);
    if (old != NULL)
        pool_put(old);
}

static void *network_main(void *arg)
{
    unsigned long *bytes = arg;
    int i;
    for (i = 0; i < NPACKETS; i++) {
        struct buffer *head = pool_try();
        struct buffer *tail = i % 2 ? pool_try() : NULL;
        if (head != NULL) {
            head->data = i;
            *bytes += 100;
        }
        if (tail != NULL)
            pool_put(tail);
        if (head != NULL)
            pool_put(head);
    }
    return NULL;
}

int main(void)
{
    pthread_t network;
    unsigned long bytes = 0;
    int i, left = 0;
    for (i = 0; i < NBUFS; i++)
        pool_put(&pool.bufs[i]);
    pool.shrink = cache_shrink;
    pthread_create(&network, NULL, network_main, &bytes);
    for (i = 0; i < NINSERTS; i++) {
        cache_insert(i);
    }
    pthread_join(network, NULL);
    while (cache_shrink())
        left++;
    printf("%lu inserted, %d left, %d\n", cache.inserted, left, bytes <= 100 * NPACKETS);
    return cache.inserted == NINSERTS && left <= 1 ? 0 : 1;
}
