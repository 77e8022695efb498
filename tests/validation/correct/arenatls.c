/* Block allocator on one arena: a lock-free free list of block numbers with a
   tag against ABA, and a cache for each thread that its key destructor gives
   back.  Messages made in one thread are freed by another; an index grows by
   realloc under a lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 256
#define BLOCK_SIZE 64
#define CACHE 8
#define THREADS 4
#define WAVES 3
#define OPS 60

struct cache {
    int n;
    uint32_t block[CACHE];
};

static char arena[BLOCKS][BLOCK_SIZE] __attribute__((aligned(64)));
static _Atomic uint32_t link_of[BLOCKS];        /* block number + 1, 0 ends */
static _Atomic uint64_t free_head;              /* tag << 32 | block + 1 */
static pthread_key_t cache_key;

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static char **index_tab;
static size_t index_n, index_cap;
static atomic_long made, checked;

static void list_push(uint32_t b)
{
    uint64_t old = atomic_load(&free_head), new;

    do {
        atomic_store(&link_of[b], (uint32_t)old);
        new = ((old >> 32) + 1) << 32 | (b + 1);
    } while (!atomic_compare_exchange_weak(&free_head, &old, new));
}

static int list_pop(uint32_t *b)
{
    uint64_t old = atomic_load(&free_head), new;

    do {
        if ((uint32_t)old == 0)
            return 0;
        *b = (uint32_t)old - 1;
        new = ((old >> 32) + 1) << 32 | atomic_load(&link_of[*b]);
    } while (!atomic_compare_exchange_weak(&free_head, &old, new));
    return 1;
}

static void cache_flush(void *arg)
{
    struct cache *c = arg;

    while (c->n > 0)
        list_push(c->block[--c->n]);
    free(c);
}

static struct cache *my_cache(void)
{
    struct cache *c = pthread_getspecific(cache_key);

    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c)
            abort();
        pthread_setspecific(cache_key, c);
    }
    return c;
}

static char *block_alloc(void)
{
    struct cache *c = my_cache();
    uint32_t b;

    if (c->n > 0)
        return arena[c->block[--c->n]];
    return list_pop(&b) ? arena[b] : NULL;
}

static void block_free(char *p)
{
    struct cache *c = my_cache();
    uint32_t b = (uint32_t)((p - arena[0]) / BLOCK_SIZE);

    if (c->n < CACHE)
        c->block[c->n++] = b;
    else
        list_push(b);
}

static void index_add(char *p)
{
    pthread_mutex_lock(&index_lock);
    if (index_n == index_cap) {
        char **t = realloc(index_tab, (index_cap * 2 + 2) * sizeof *t);

        if (!t)
            abort();
        index_tab = t;
        index_cap = index_cap * 2 + 2;
    }
    index_tab[index_n++] = p;
    pthread_mutex_unlock(&index_lock);
}

static char *index_take(void)
{
    char *p = NULL;

    pthread_mutex_lock(&index_lock);
    if (index_n > 0)
        p = index_tab[--index_n];
    pthread_mutex_unlock(&index_lock);
    return p;
}

static void consume(char *p)
{
    int owner, no;
    unsigned sum;

    if (p && sscanf(p, "%d:%d:%u", &owner, &no, &sum) == 3 &&
        sum == (unsigned)(owner * 1000 + no) * 3u)
        atomic_fetch_add(&checked, 1);
    if (p) {
        memset(p, 0xee, BLOCK_SIZE);
        block_free(p);
    }
}

static void *user(void *arg)
{
    int me = (int)(long)arg, i;
    char *p;

    for (i = 0; i < OPS; i++) {
        p = block_alloc();
        if (p) {
            snprintf(p, BLOCK_SIZE, "%d:%d:%u", me, i, (unsigned)(me * 1000 + i) * 3u);
            atomic_fetch_add(&made, 1);
            index_add(p);
        }
        if (i % 3 != 0)
            consume(index_take());
    }
    return NULL;
}

int main(void)
{
    pthread_t th[THREADS];
    uint32_t b, left = 0;
    char *p;
    long w, i;

    pthread_key_create(&cache_key, cache_flush);
    for (b = 0; b < BLOCKS; b++)
        list_push(b);
    for (w = 0; w < WAVES; w++) {
        for (i = 0; i < THREADS; i++)
            pthread_create(&th[i], NULL, user, (void *)(w * THREADS + i));
        for (i = 0; i < THREADS; i++)
            pthread_join(th[i], NULL);
        while ((p = index_take()) != NULL)
            consume(p);
    }
    cache_flush(my_cache());
    pthread_setspecific(cache_key, NULL);
    while (list_pop(&b))
        left++;
    free(index_tab);
    printf("made %ld, checked %ld, blocks %u\n", atomic_load(&made),
           atomic_load(&checked), left);
    return atomic_load(&made) == atomic_load(&checked) && left == BLOCKS ? 0 : 1;
}
