#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NITEMS 4
#define NKEYS 8
#define NLOCKS 3
#define NREADERS 2
#define NGETS 24

struct item {
    int key;
    int flags;
    long value;
    unsigned time;
};

struct lru {
    pthread_mutex_t lock;
    int tail;
    long evictions;
};

static struct item slab[NITEMS];
static struct item *_Atomic assoc[NKEYS];
static pthread_mutex_t item_locks[NLOCKS];
static struct lru lru = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_uint current_time;
static atomic_long get_hits, get_misses;

static pthread_mutex_t *item_lock_of(int key)
{
    return &item_locks[key % NLOCKS];
}

static long value_of(int key, int version)
{
    return key * 1000L + version;
}

static struct item *lru_pull_tail(void)
{
    struct item *it;
    pthread_mutex_lock(&lru.lock);
    it = &slab[lru.tail];
    lru.tail = (lru.tail + 1) % NITEMS;
    lru.evictions++;
    pthread_mutex_unlock(&lru.lock);
    return it;
}

static struct item *item_alloc(int key, long value)
{
    struct item *it = lru_pull_tail();
    atomic_store(&assoc[it->key], NULL);
    it->key = key;
    it->value = value;
    it->flags = 0;
    it->time = atomic_load_explicit(&current_time, memory_order_relaxed);
    return it;
}

static void item_set(int key, long value)
{
    pthread_mutex_lock(item_lock_of(key));
    atomic_store(&assoc[key], item_alloc(key, value));
    pthread_mutex_unlock(item_lock_of(key));
}

static int item_get(int key, long *value)
{
    struct item *it;
    int hit = 0;
    pthread_mutex_lock(item_lock_of(key));
    it = atomic_load(&assoc[key]);
    if (it != NULL && it->key == key) {
        *value = it->value;
        hit = 1;
    }
    pthread_mutex_unlock(item_lock_of(key));
    atomic_fetch_add_explicit(hit ? &get_hits : &get_misses, 1, memory_order_relaxed);
    return hit;
}

static void *reader_main(void *arg)
{
    int i, *wrong = arg;
    for (i = 0; i < NGETS; i++) {
        int key = (i * 5) % NKEYS;
        long value;
        if (item_get(key, &value) && value / 1000 != key) {
            fprintf(stderr, "get %d: value %ld of another item\n", key, value);
            ++*wrong;
        }
    }
    return NULL;
}

static void *writer_main(void *arg)
{
    int key;
    (void)arg;
    for (key = NITEMS; key < NKEYS; key++) {
        item_set(key, value_of(key, 1));
        atomic_fetch_add_explicit(&current_time, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t readers[NREADERS], writer;
    int wrong[NREADERS] = { 0 }, i, bad = 0;
    for (i = 0; i < NLOCKS; i++)
        pthread_mutex_init(&item_locks[i], NULL);
    for (i = 0; i < NITEMS; i++) {
        slab[i].key = i;
        slab[i].value = value_of(i, 0);
        atomic_store(&assoc[i], &slab[i]);
    }
    for (i = 0; i < NREADERS; i++)
        pthread_create(&readers[i], NULL, reader_main, &wrong[i]);
    pthread_create(&writer, NULL, writer_main, NULL);
    pthread_join(writer, NULL);
    for (i = 0; i < NREADERS; i++) {
        pthread_join(readers[i], NULL);
        bad += wrong[i];
    }
    printf("%ld hits, %ld misses, %ld evictions\n", atomic_load(&get_hits), atomic_load(&get_misses), lru.evictions);
    return bad != 0;
}
