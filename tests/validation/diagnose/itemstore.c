/* Item store with reference counted values and a deleting maintenance thread. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NITEMS   6
#define NREADERS 2
#define IT_MAGIC 0x17e1d00du

typedef struct item {
    struct item *lru_next;
    long         exptime;
    atomic_uint  magic;
    int          refcount;
    char         key[16];
    char         value[64];
} item;

static struct {
    pthread_mutex_t lock;
    item           *slot[NITEMS];
    int             live;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_int get_hits, get_misses;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static long out_bytes;

static item *item_alloc(int id)
{
    item *it = calloc(1, sizeof *it);

    it->magic = IT_MAGIC;
    it->refcount = 1;
    it->exptime = 1000 + id;
    snprintf(it->key, sizeof it->key, "user:%d", id);
    snprintf(it->value, sizeof it->value, "profile of user %d", id);
    return it;
}

/* caller holds store.lock */
static void item_unref(item *it)
{
    assert(it->magic == IT_MAGIC);
    if (--it->refcount == 0) {
        store.live--;
        it->magic = 0;
        free(it);
    }
}

static item *store_find(int id)
{
    item *it;

    pthread_mutex_lock(&store.lock);
    it = store.slot[id];
    pthread_mutex_unlock(&store.lock);
    return it;
}

static void item_pin(item *it)
{
    pthread_mutex_lock(&store.lock);
    assert(it->magic == IT_MAGIC);
    it->refcount++;
    pthread_mutex_unlock(&store.lock);
}

static item *item_get(int id)
{
    item *it = store_find(id);

    if (!it) {
        atomic_fetch_add(&get_misses, 1);
        return NULL;
    }
    item_pin(it);
    atomic_fetch_add(&get_hits, 1);
    return it;
}

static void item_release(item *it)
{
    pthread_mutex_lock(&store.lock);
    item_unref(it);
    pthread_mutex_unlock(&store.lock);
}

static void store_delete(int id)
{
    pthread_mutex_lock(&store.lock);
    item *it = store.slot[id];
    if (it) {
        store.slot[id] = NULL;
        item_unref(it);
    }
    pthread_mutex_unlock(&store.lock);
}

static void *reader_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NITEMS; i++) {
        item *it = item_get(i);
        if (!it)
            continue;
        pthread_mutex_lock(&out_lock);
        out_bytes += (long)strlen(it->value);
        pthread_mutex_unlock(&out_lock);
        item_release(it);
    }
    return NULL;
}

static void *maintenance_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NITEMS; i += 2)
        store_delete(i);
    return NULL;
}

int main(void)
{
    pthread_t r[NREADERS], m;

    for (int i = 0; i < NITEMS; i++) {
        store.slot[i] = item_alloc(i);
        store.live++;
    }
    for (int i = 0; i < NREADERS; i++)
        pthread_create(&r[i], NULL, reader_main, NULL);
    pthread_create(&m, NULL, maintenance_main, NULL);
    for (int i = 0; i < NREADERS; i++)
        pthread_join(r[i], NULL);
    pthread_join(m, NULL);

    for (int i = 0; i < NITEMS; i++)
        store_delete(i);
    printf("hits %d misses %d bytes %ld live %d\n", atomic_load(&get_hits),
           atomic_load(&get_misses), out_bytes, store.live);
    return store.live != 0;
}
