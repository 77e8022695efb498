/* In-memory object cache with reference counted entries. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOBJ     4
#define NWORKERS 3

typedef struct cache_object {
    char   key[32];
    char  *body;
    size_t len;
    int    refs;
    int    disposals;
    struct cache_object *next_dead;
} cache_object_t;

typedef struct {
    pthread_mutex_t lock;
    cache_object_t *slot[NOBJ];
    cache_object_t *graveyard;
    long            resident;
    int             ndisposed;
} cache_t;

static cache_t cache = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_long bytes_sent;
static atomic_int  hits, misses;

static cache_object_t *object_create(int id)
{
    cache_object_t *o = calloc(1, sizeof *o);

    snprintf(o->key, sizeof o->key, "/static/page%d.html", id);
    o->len = 64 + 16 * (size_t)id;
    o->body = malloc(o->len);
    memset(o->body, 'a' + id, o->len);
    o->refs = 1;
    return o;
}

static cache_object_t *cache_lookup(int id)
{
    cache_object_t *o;

    pthread_mutex_lock(&cache.lock);
    o = cache.slot[id];
    if (o)
        o->refs++;
    pthread_mutex_unlock(&cache.lock);
    if (o)
        atomic_fetch_add(&hits, 1);
    else
        atomic_fetch_add(&misses, 1);
    return o;
}

static void object_dispose(cache_object_t *o)
{
    pthread_mutex_lock(&cache.lock);
    cache.resident -= (long)o->len;
    cache.ndisposed++;
    if (o->disposals++ == 0) {
        o->next_dead = cache.graveyard;
        cache.graveyard = o;
    }
    pthread_mutex_unlock(&cache.lock);
}

static void object_release(cache_object_t *o)
{
    int refs;

    pthread_mutex_lock(&cache.lock);
    o->refs--;
    pthread_mutex_unlock(&cache.lock);

    pthread_mutex_lock(&cache.lock);
    refs = o->refs;
    pthread_mutex_unlock(&cache.lock);
    if (refs == 0)
        object_dispose(o);
}

static void *worker_main(void *arg)
{
    int me = (int)(long)arg;
    char out[256];

    for (int i = 0; i < NOBJ; i++) {
        cache_object_t *o = cache_lookup((i + me) % NOBJ);
        if (!o)
            continue;
        memcpy(out, o->body, o->len);
        atomic_fetch_add(&bytes_sent, (long)o->len);
        object_release(o);
    }
    return NULL;
}

static void *evictor_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NOBJ; i++) {
        cache_object_t *o;

        pthread_mutex_lock(&cache.lock);
        o = cache.slot[i];
        cache.slot[i] = NULL;
        pthread_mutex_unlock(&cache.lock);
        object_release(o);
    }
    return NULL;
}

int main(void)
{
    pthread_t w[NWORKERS], ev;

    for (int i = 0; i < NOBJ; i++) {
        cache.slot[i] = object_create(i);
        cache.resident += (long)cache.slot[i]->len;
    }
    for (long i = 0; i < NWORKERS; i++)
        pthread_create(&w[i], NULL, worker_main, (void *)i);
    pthread_create(&ev, NULL, evictor_main, NULL);
    for (int i = 0; i < NWORKERS; i++)
        pthread_join(w[i], NULL);
    pthread_join(ev, NULL);

    printf("hits %d misses %d sent %ld\n", atomic_load(&hits),
           atomic_load(&misses), atomic_load(&bytes_sent));
    while (cache.graveyard) {
        cache_object_t *o = cache.graveyard;
        cache.graveyard = o->next_dead;
        free(o->body);
        free(o);
    }
    if (cache.ndisposed != NOBJ || cache.resident != 0) {
        fprintf(stderr, "cache accounting broken: disposed %d of %d, resident %ld\n",
                cache.ndisposed, NOBJ, cache.resident);
        return 1;
    }
    return 0;
}
