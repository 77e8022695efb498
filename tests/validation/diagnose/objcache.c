/* Reference counted objects of a memory cache: the cache holds one
 * reference, every request in progress another one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cache_object {
    size_t len;
    char body[40];
    int expired;
    atomic_int refcount;
} cache_object;

static atomic_int live_objects;
static pthread_mutex_t sconf_lock = PTHREAD_MUTEX_INITIALIZER;
static cache_object *cached;

static cache_object *object_new(const char *text)
{
    cache_object *o = malloc(sizeof *o);
    atomic_init(&o->refcount, 1);
    o->expired = 0;
    o->len = strlen(text);
    snprintf(o->body, sizeof o->body, "%s", text);
    atomic_fetch_add(&live_objects, 1);
    return o;
}

static void object_cleanup(cache_object *o)
{
    atomic_fetch_sub(&live_objects, 1);
    free(o);
}

static void object_release(cache_object *o)
{
    atomic_fetch_sub(&o->refcount, 1);
    if (atomic_load(&o->refcount) == 0)
        object_cleanup(o);
}

static cache_object *object_open(void)
{
    cache_object *o;
    pthread_mutex_lock(&sconf_lock);
    o = cached;
    if (o)
        atomic_fetch_add(&o->refcount, 1);
    pthread_mutex_unlock(&sconf_lock);
    return o;
}

static void object_remove(void)
{
    cache_object *o;
    pthread_mutex_lock(&sconf_lock);
    o = cached;
    cached = NULL;
    pthread_mutex_unlock(&sconf_lock);
    if (o)
        object_release(o);
}

static void *request(void *arg)
{
    unsigned *etag = arg;
    cache_object *o = object_open();
    if (o) {
        for (size_t i = 0; i < o->len; i++)
            *etag = *etag * 131 + (unsigned char)o->body[i];
        object_release(o);
    }
    return NULL;
}

static void *invalidate(void *arg)
{
    (void)arg;
    object_remove();
    return NULL;
}

int main(void)
{
    pthread_t r, v;
    unsigned etag = 7;

    cached = object_new("<html>cached page</html>");
    pthread_create(&r, NULL, request, &etag);
    pthread_create(&v, NULL, invalidate, NULL);
    pthread_join(r, NULL);
    pthread_join(v, NULL);
    int n = atomic_load(&live_objects);
    if (n != 0) {
        fprintf(stderr, "%d live objects at exit\n", n);
        return 1;
    }
    puts("cache empty");
    return 0;
}
