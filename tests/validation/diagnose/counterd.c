/* Key/value daemon core: worker threads execute arithmetic commands. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBUCKETS 8
#define NWORKERS 3
#define NCMDS    8

typedef struct item {
    struct item *h_next;
    char         key[16];
    char         data[24];
    int          nbytes;
    unsigned     flags;
} item;

static struct {
    pthread_mutex_t lock;
    item           *bucket[NBUCKETS];
} hashtable = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct thread_stats {
    pthread_mutex_t lock;
    int             incr_hits, get_hits, misses;
};

typedef struct {
    pthread_t           tid;
    int                 index;
    struct thread_stats stats;
} worker_t;

static worker_t workers[NWORKERS];

static unsigned hash(const char *k)
{
    unsigned h = 5381;
    while (*k)
        h = h * 33 + (unsigned char)*k++;
    return h % NBUCKETS;
}

/* caller holds hashtable.lock */
static item *assoc_find(const char *key)
{
    item *it = hashtable.bucket[hash(key)];
    while (it && strcmp(it->key, key) != 0)
        it = it->h_next;
    return it;
}

static void item_store_new(const char *key, unsigned long long v)
{
    item *it = calloc(1, sizeof *it);
    unsigned h = hash(key);

    strncpy(it->key, key, sizeof it->key - 1);
    it->nbytes = snprintf(it->data, sizeof it->data, "%llu", v);
    pthread_mutex_lock(&hashtable.lock);
    it->h_next = hashtable.bucket[h];
    hashtable.bucket[h] = it;
    pthread_mutex_unlock(&hashtable.lock);
}

static int item_get(const char *key, char *buf, size_t size)
{
    item *it;

    pthread_mutex_lock(&hashtable.lock);
    it = assoc_find(key);
    if (it)
        snprintf(buf, size, "%s", it->data);
    pthread_mutex_unlock(&hashtable.lock);
    return it != NULL;
}

static void item_set(const char *key, const char *val)
{
    item *it;

    pthread_mutex_lock(&hashtable.lock);
    it = assoc_find(key);
    if (it)
        it->nbytes = snprintf(it->data, sizeof it->data, "%s", val);
    pthread_mutex_unlock(&hashtable.lock);
}

static void stat_inc(struct thread_stats *st, int *field)
{
    pthread_mutex_lock(&st->lock);
    (*field)++;
    pthread_mutex_unlock(&st->lock);
}

static void process_incr(worker_t *w, const char *key, unsigned delta)
{
    char buf[24];

    if (!item_get(key, buf, sizeof buf)) {
        stat_inc(&w->stats, &w->stats.misses);
        return;
    }
    snprintf(buf, sizeof buf, "%llu", strtoull(buf, NULL, 10) + delta);
    item_set(key, buf);
    stat_inc(&w->stats, &w->stats.incr_hits);
}

static void *worker_main(void *arg)
{
    worker_t *w = arg;
    char buf[24];

    for (int i = 0; i < NCMDS; i++) {
        process_incr(w, "page:views", 2);
        if (item_get("motd", buf, sizeof buf))
            stat_inc(&w->stats, &w->stats.get_hits);
    }
    return NULL;
}

int main(void)
{
    char buf[24] = "";
    int incr = 0, gets = 0;

    item_store_new("page:views", 100);
    item_store_new("motd", 7);
    for (int i = 0; i < NWORKERS; i++) {
        workers[i].index = i;
        pthread_mutex_init(&workers[i].stats.lock, NULL);
        pthread_create(&workers[i].tid, NULL, worker_main, &workers[i]);
    }
    for (int i = 0; i < NWORKERS; i++) {
        pthread_join(workers[i].tid, NULL);
        incr += workers[i].stats.incr_hits;
        gets += workers[i].stats.get_hits;
    }
    item_get("page:views", buf, sizeof buf);
    printf("page:views=%s incr_hits=%d get_hits=%d\n", buf, incr, gets);
    if (strtoull(buf, NULL, 10) != 100ULL + 2ULL * incr) {
        fprintf(stderr, "counter mismatch: expected %llu\n", 100ULL + 2ULL * incr);
        return 1;
    }
    return 0;
}
