/* In-memory object cache of a web server.  Each request thread holds one
   reference on the object while it sends the body. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY 4096
#define NREQ 3

struct cache_object {
    char key[32];
    size_t len;
    atomic_int refcount;
    int complete;
    char body[BODY];
};

struct request {
    pthread_t tid;
    int no;
    struct cache_object *obj;
    char *out;
    unsigned long sum;
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cache_object *cache_slot;
static long cache_bytes;
static atomic_ulong bytes_served;

static struct cache_object *cache_insert(const char *key)
{
    struct cache_object *o = malloc(sizeof *o);
    size_t i;

    snprintf(o->key, sizeof o->key, "%s", key);
    o->len = BODY;
    atomic_init(&o->refcount, 1);
    for (i = 0; i < BODY; i++)
        o->body[i] = "0123456789abcdef"[i % 16];
    o->complete = 1;
    pthread_mutex_lock(&cache_lock);
    cache_slot = o;
    cache_bytes += BODY;
    pthread_mutex_unlock(&cache_lock);
    return o;
}

static struct cache_object *cache_open(const char *key)
{
    struct cache_object *o;

    pthread_mutex_lock(&cache_lock);
    o = cache_slot;
    if (o && strcmp(o->key, key) == 0)
        atomic_fetch_add(&o->refcount, 1);
    else
        o = NULL;
    pthread_mutex_unlock(&cache_lock);
    return o;
}

static void cleanup_object(struct cache_object *o)
{
    pthread_mutex_lock(&cache_lock);
    cache_bytes -= BODY;
    pthread_mutex_unlock(&cache_lock);
    free(o);
}

static void release_object(struct cache_object *o)
{
    atomic_fetch_sub(&o->refcount, 1);
    if (atomic_load(&o->refcount) == 0)
        cleanup_object(o);
}

static void cache_remove(const char *key)
{
    struct cache_object *o;

    pthread_mutex_lock(&cache_lock);
    o = cache_slot;
    if (o && strcmp(o->key, key) == 0)
        cache_slot = NULL;
    else
        o = NULL;
    pthread_mutex_unlock(&cache_lock);
    if (o)
        release_object(o);
}

static void *serve(void *arg)
{
    struct request *r = arg;
    size_t i, n = r->obj->len / (size_t)(r->no + 1);

    memcpy(r->out, r->obj->body, n);
    for (i = 0; i < n; i++)
        r->sum += (unsigned char)r->out[i];
    atomic_fetch_add(&bytes_served, n);
    release_object(r->obj);
    return NULL;
}

int main(void)
{
    struct request req[NREQ];
    int i;

    cache_insert("/index.html");
    for (i = 0; i < NREQ; i++) {
        req[i].no = i;
        req[i].sum = 0;
        req[i].out = malloc(BODY);
        req[i].obj = cache_open("/index.html");
    }
    cache_remove("/index.html");
    for (i = 0; i < NREQ; i++)
        pthread_create(&req[i].tid, NULL, serve, &req[i]);
    for (i = 0; i < NREQ; i++)
        pthread_join(req[i].tid, NULL);
    for (i = 0; i < NREQ; i++) {
        printf("request %d: %lu\n", req[i].no, req[i].sum);
        free(req[i].out);
    }
    printf("served %lu, cached %ld\n", atomic_load(&bytes_served), cache_bytes);
    return 0;
}
