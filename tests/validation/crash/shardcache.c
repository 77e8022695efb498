#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSHARD 4
#define PER_THREAD 24

struct entry {
    int key;
    int shard;
    size_t size;
    char *data;
    struct entry *next;
};

struct shard {
    pthread_mutex_t lock;
    struct entry *head;
    int count;
};

struct cache {
    struct shard shards[NSHARD];
    size_t charge;
    size_t capacity;
    int evictions;
};

struct loader {
    struct cache *c;
    pthread_t tid;
    int first;
};

static int shard_of(int key)
{
    return key % NSHARD;
}

static void account(struct cache *c, struct entry *e)
{
    c->charge += e->size;
}

static void unaccount(struct cache *c, struct entry *e)
{
    c->charge -= e->size;
}

static void cache_insert(struct cache *c, int key, size_t size)
{
    struct shard *sh = &c->shards[shard_of(key)];
    struct entry *e = calloc(1, sizeof(*e));
    e->key = key;
    e->shard = shard_of(key);
    e->size = size;
    e->data = malloc(size);
    memset(e->data, key, size);

    pthread_mutex_lock(&sh->lock);
    e->next = sh->head;
    sh->head = e;
    sh->count++;
    account(c, e);
    pthread_mutex_unlock(&sh->lock);
}

static void entry_unlink(struct cache *c, struct entry *e)
{
    struct shard *sh = &c->shards[e->shard];
    struct entry **pp;
    pthread_mutex_lock(&sh->lock);
    pp = &sh->head;
    while (*pp != e)
        pp = &(*pp)->next;
    *pp = e->next;
    sh->count--;
    unaccount(c, e);
    pthread_mutex_unlock(&sh->lock);
    free(e->data);
    free(e);
}

static struct entry *cache_find(struct cache *c, int key)
{
    struct shard *sh = &c->shards[shard_of(key)];
    struct entry *e;
    pthread_mutex_lock(&sh->lock);
    e = sh->head;
    while (e != NULL && e->key != key)
        e = e->next;
    pthread_mutex_unlock(&sh->lock);
    return e;
}

static struct entry *pick_victim(struct cache *c)
{
    struct entry *e = NULL;
    for (int i = 0; i < NSHARD && e == NULL; i++) {
        struct shard *sh = &c->shards[i];
        pthread_mutex_lock(&sh->lock);
        e = sh->head;
        pthread_mutex_unlock(&sh->lock);
    }
    return e;
}

static void cache_trim(struct cache *c, size_t target)
{
    while (c->charge > target) {
        struct entry *e = pick_victim(c);
        entry_unlink(c, e);
        c->evictions++;
    }
}

static void *loader_main(void *arg)
{
    struct loader *ld = arg;
    for (int i = 0; i < PER_THREAD; i++) {
        int key = ld->first + 2 * i;
        cache_insert(ld->c, key, 40 + key % 7);
        if (i % 3 == 2) {
            struct entry *e = cache_find(ld->c, key - 2);
            entry_unlink(ld->c, e);
        }
    }
    return NULL;
}

int main(void)
{
    static struct cache c;
    static struct loader ld[2];

    c.capacity = 400;
    for (int i = 0; i < NSHARD; i++)
        pthread_mutex_init(&c.shards[i].lock, NULL);
    for (int i = 0; i < 2; i++) {
        ld[i].c = &c;
        ld[i].first = i;
        pthread_create(&ld[i].tid, NULL, loader_main, &ld[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(ld[i].tid, NULL);

    cache_trim(&c, c.capacity);
    printf("charge %zu after trim\n", c.charge);
    cache_trim(&c, 0);
    for (int i = 0; i < NSHARD; i++)
        assert(c.shards[i].count == 0);
    printf("evictions %d\n", c.evictions);
    return 0;
}
