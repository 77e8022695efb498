#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBUCKETS 4
#define NTHREADS 4
#define NREQS 18
#define NHOSTS 5

struct vhost {
    struct vhost *next;
    char name[24];
    size_t doc_root_len;
};

struct vhost_map {
    pthread_rwlock_t lock;
    struct vhost *buckets[NBUCKETS];
    int count;
    int created;
};

struct conn {
    pthread_t tid;
    int id;
    size_t bytes;
};

static struct vhost_map map = { .lock = PTHREAD_RWLOCK_INITIALIZER };

static unsigned bucket_of(const char *name)
{
    unsigned h = 0;
    while (*name) {
        h = h * 31 + (unsigned char)*name;
        name++;
    }
    return h % NBUCKETS;
}

static struct vhost *map_find(struct vhost_map *m, const char *name)
{
    struct vhost *v = m->buckets[bucket_of(name)];
    while (v && strcmp(v->name, name) != 0)
        v = v->next;
    return v;
}

static struct vhost *vhost_new(const char *name)
{
    struct vhost *v = calloc(1, sizeof *v);
    snprintf(v->name, sizeof v->name, "%s", name);
    v->doc_root_len = strlen(name) + 9;
    return v;
}

static struct vhost *map_lookup(struct vhost_map *m, const char *name)
{
    struct vhost *v;
    struct vhost *fresh;
    unsigned b = bucket_of(name);
    pthread_rwlock_rdlock(&m->lock);
    v = map_find(m, name);
    pthread_rwlock_unlock(&m->lock);
    if (v)
        return v;
    fresh = vhost_new(name);
    pthread_rwlock_wrlock(&m->lock);
    v = map_find(m, name);
    if (!v) {
        v = fresh;
        fresh = NULL;
        v->next = m->buckets[b];
        m->buckets[b] = v;
        m->count++;
    }
    m->created++;
    pthread_rwlock_unlock(&m->lock);
    free(fresh);
    return v;
}

static void *conn_main(void *arg)
{
    struct conn *c = arg;
    char name[24];
    int i;
    for (i = 0; i < NREQS; i++) {
        struct vhost *v;
        snprintf(name, sizeof name, "www%d.org", (c->id + i) % NHOSTS);
        v = map_lookup(&map, name);
        c->bytes += v->doc_root_len;
    }
    return NULL;
}

static int map_free(struct vhost_map *m)
{
    int n = 0;
    int i;
    for (i = 0; i < NBUCKETS; i++) {
        while (m->buckets[i]) {
            struct vhost *v = m->buckets[i];
            m->buckets[i] = v->next;
            free(v);
            n++;
        }
    }
    return n;
}

int main(void)
{
    struct conn c[NTHREADS];
    int rc = 0;
    int i;
    for (i = 0; i < NTHREADS; i++) {
        c[i].id = i;
        c[i].bytes = 0;
        pthread_create(&c[i].tid, NULL, conn_main, &c[i]);
    }
    for (i = 0; i < NTHREADS; i++) {
        pthread_join(c[i].tid, NULL);
        if (c[i].bytes != NREQS * 17)
            rc = 1;
    }
    printf("%d hosts\n", map.count);
    if (map.count != NHOSTS || map.created < NHOSTS)
        rc = 1;
    if (map_free(&map) != NHOSTS)
        rc = 1;
    pthread_rwlock_destroy(&map.lock);
    return rc;
}
