/* Log processor with lookup tables that can be loaded anew at any time. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NENTRIES 6
#define NWORKERS 3
#define NLINES   10
#define NRELOADS 4

struct entry {
    unsigned key;
    char     value[12];
};

struct lookup {
    unsigned long  generation;
    unsigned long  loaded_by;
    int            nmemb;
    struct entry  *entries;
};

struct lookup_ref {
    char             name[16];
    pthread_rwlock_t rwlock;
    struct lookup   *self;
    atomic_long      reloads;
};

struct worker {
    int       id;
    int       unknown;
    long      lines;
    pthread_t thread;
};

static struct lookup_ref hosts = { .name = "hosts", .rwlock = PTHREAD_RWLOCK_INITIALIZER };
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long out_bytes;
static unsigned last_key;               /* for diagnostics */

static struct lookup *lookup_load(unsigned long generation)
{
    struct lookup *t = malloc(sizeof(*t));

    if (t == NULL || (t->entries = malloc(NENTRIES * sizeof(struct entry))) == NULL)
        abort();
    t->generation = generation;
    t->loaded_by = 0;
    t->nmemb = NENTRIES;
    for (int i = 0; i < NENTRIES; i++) {
        t->entries[i].key = 10u + (unsigned)i;
        snprintf(t->entries[i].value, sizeof(t->entries[i].value), "host%d", i);
    }
    return t;
}

/* Values may be passwords. */
static void lookup_destruct(struct lookup *t)
{
    explicit_bzero(t->entries, NENTRIES * sizeof(struct entry));
    free(t->entries);
    free(t);
}

static const struct entry *lookup_find(const struct lookup *t, unsigned key)
{
    for (int i = 0; i < t->nmemb; i++)
        if (t->entries[i].key == key)
            return &t->entries[i];
    return NULL;
}

static struct lookup *lookup_current(struct lookup_ref *ref)
{
    struct lookup *t;

    pthread_rwlock_rdlock(&ref->rwlock);
    t = ref->self;
    pthread_rwlock_unlock(&ref->rwlock);
    return t;
}

static void lookup_reload(struct lookup_ref *ref, unsigned long generation)
{
    struct lookup *fresh = lookup_load(generation), *old;

    pthread_rwlock_wrlock(&ref->rwlock);
    old = ref->self;
    ref->self = fresh;
    pthread_rwlock_unlock(&ref->rwlock);
    if (old != NULL)
        lookup_destruct(old);
    atomic_fetch_add(&ref->reloads, 1);
}

static int process_line(struct worker *w, unsigned key)
{
    struct lookup *t = lookup_current(&hosts);
    const struct entry *e;
    char value[12] = "";

    last_key = key;
    e = lookup_find(t, key);
    if (e != NULL)
        memcpy(value, e->value, sizeof(value));
    if (strncmp(value, "host", 4) != 0)
        return -1;
    pthread_mutex_lock(&out_lock);
    out_bytes += strlen(value);
    pthread_mutex_unlock(&out_lock);
    w->lines++;
    return 0;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;

    for (int i = 0; i < NLINES; i++)
        if (process_line(w, 10u + (unsigned)(w->id + i) % NENTRIES) != 0)
            w->unknown++;
    return NULL;
}

static void *reload_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NRELOADS; i++)
        lookup_reload(&hosts, 1 + (unsigned long)i);
    return NULL;
}

int main(void)
{
    struct worker w[NWORKERS];
    pthread_t r;
    int unknown = 0;

    lookup_reload(&hosts, 0);
    memset(w, 0, sizeof(w));
    for (int i = 0; i < NWORKERS; i++) {
        w[i].id = i;
        pthread_create(&w[i].thread, NULL, worker_main, &w[i]);
    }
    pthread_create(&r, NULL, reload_main, NULL);
    for (int i = 0; i < NWORKERS; i++) {
        pthread_join(w[i].thread, NULL);
        unknown += w[i].unknown;
    }
    pthread_join(r, NULL);
    printf("%s: %ld reloads, %lu bytes\n", hosts.name, atomic_load(&hosts.reloads), out_bytes);
    if (unknown != 0) {
        fprintf(stderr, "%d keys not found\n", unknown);
        return 1;
    }
    return 0;
}
