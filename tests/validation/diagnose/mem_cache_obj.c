#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NOBJECTS 6
#define NREQUESTS 2
#define BODY_MAX 32

struct cache_object {
    char url[24];
    char body[BODY_MAX];
    unsigned slot;
    atomic_int refcount;
};

struct object_pool {
    struct cache_object objs[NOBJECTS];
    atomic_uint used_map;
    atomic_int bytes_in_use;
};

struct request {
    pthread_t tid;
    struct object_pool *pool;
    unsigned first;
    unsigned long checksum;
};

static struct object_pool pool;

static struct cache_object *pool_alloc(struct object_pool *p, unsigned slot)
{
    struct cache_object *obj = &p->objs[slot];
    unsigned bit = 1u << slot;
    atomic_fetch_or(&p->used_map, bit);
    atomic_fetch_add(&p->bytes_in_use, BODY_MAX);
    obj->slot = slot;
    return obj;
}

static void pool_release(struct object_pool *p, struct cache_object *obj)
{
    unsigned bit = 1u << obj->slot;
    unsigned prev = atomic_fetch_and(&p->used_map, ~bit);
    assert(prev & bit);
    atomic_fetch_sub(&p->bytes_in_use, BODY_MAX);
}

static void object_ref(struct cache_object *obj)
{
    atomic_fetch_add(&obj->refcount, 1);
}

static void object_unref(struct object_pool *p, struct cache_object *obj)
{
    atomic_fetch_sub(&obj->refcount, 1);
    if (atomic_load(&obj->refcount) == 0)
        pool_release(p, obj);
}

static void fill_object(struct cache_object *obj)
{
    unsigned i;
    snprintf(obj->url, sizeof obj->url, "/img/%u.png", obj->slot);
    for (i = 0; i < BODY_MAX; i++)
        obj->body[i] = (char)('a' + (i + obj->slot) % 26);
}

static unsigned long serve(const struct cache_object *obj)
{
    unsigned long sum = 0;
    size_t len = strlen(obj->url);
    size_t i;
    for (i = 0; i < len; i++)
        sum += (unsigned char)obj->url[i];
    for (i = 0; i < BODY_MAX; i++)
        sum = sum * 31 + (unsigned char)obj->body[i];
    return sum;
}

static void *request_main(void *arg)
{
    struct request *r = arg;
    unsigned i;
    for (i = 0; i < NOBJECTS; i++) {
        unsigned n = (r->first + i) % NOBJECTS;
        struct cache_object *obj = &r->pool->objs[n];
        r->checksum += serve(obj);
        object_unref(r->pool, obj);
    }
    return NULL;
}

int main(void)
{
    struct request req[NREQUESTS];
    unsigned i;
    unsigned k;
    for (i = 0; i < NOBJECTS; i++) {
        struct cache_object *obj = pool_alloc(&pool, i);
        fill_object(obj);
        for (k = 0; k < NREQUESTS; k++)
            object_ref(obj);
    }
    for (k = 0; k < NREQUESTS; k++) {
        req[k].pool = &pool;
        req[k].first = k * 2;
        req[k].checksum = 0;
        pthread_create(&req[k].tid, NULL, request_main, &req[k]);
    }
    for (k = 0; k < NREQUESTS; k++)
        pthread_join(req[k].tid, NULL);
    assert(req[0].checksum == req[1].checksum);
    printf("in use: %d bytes\n", atomic_load(&pool.bytes_in_use));
    return atomic_load(&pool.used_map) == 0 ? 0 : 1;
}
