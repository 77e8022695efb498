/* A tree of settings behind a read-write lock that prefers writers, so that
 * changes are not starved by the many readers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NKEYS    4
#define NREADERS 2
#define NROUNDS  2

struct setting {
    const char *key;
    const char *inherits;
    int         value;                  /* -1: take that of the one above */
};

struct store {
    pthread_rwlock_t lock;
    struct setting   s[NKEYS];
    int              generation;
};

static struct store store = {
    .s = {
        { "root", NULL, 10 },
        { "net", "root", 15 },
        { "net.timeout", "net", -1 },
        { "ui", "root", 3 },
    },
};
static pthread_mutex_t stat_lock = PTHREAD_MUTEX_INITIALIZER;
static long lookups;
static atomic_long changes;

static void count_lookup(void)
{
    pthread_mutex_lock(&stat_lock);
    lookups++;
    pthread_mutex_unlock(&stat_lock);
}

static int store_get(struct store *st, const char *key)
{
    int value = -1;

    pthread_rwlock_rdlock(&st->lock);
    for (int i = 0; i < NKEYS; i++) {
        struct setting *s = &st->s[i];

        if (strcmp(s->key, key) != 0)
            continue;
        value = s->value;
        if (value < 0 && s->inherits)
            value = store_get(st, s->inherits);
        break;
    }
    pthread_rwlock_unlock(&st->lock);
    count_lookup();
    return value;
}

static void store_set(struct store *st, const char *key, int value)
{
    pthread_rwlock_wrlock(&st->lock);
    for (int i = 0; i < NKEYS; i++)
        if (strcmp(st->s[i].key, key) == 0)
            st->s[i].value = value;
    st->generation++;
    pthread_rwlock_unlock(&st->lock);
    atomic_fetch_add_explicit(&changes, 1, memory_order_relaxed);
}

static void *reader_main(void *arg)
{
    long *sum = arg;

    for (int i = 0; i < NROUNDS; i++) {
        *sum += store_get(&store, "net.timeout") > 0;
        *sum += store_get(&store, "ui") > 0;
    }
    return NULL;
}

static void *editor_main(void *arg)
{
    (void)arg;
    for (int i = 0; i < NROUNDS; i++)
        store_set(&store, i % 2 ? "ui" : "root", 20 + i);
    return NULL;
}

int main(void)
{
    pthread_rwlockattr_t attr;
    pthread_t r[NREADERS], e;
    long sum[NREADERS] = { 0 }, total = 0;

    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&store.lock, &attr);
    pthread_rwlockattr_destroy(&attr);
    store_set(&store, "ui", 4);
    if (store_get(&store, "net.timeout") != 15)
        return 1;
    for (int i = 0; i < NREADERS; i++) {
        pthread_create(&r[i], NULL, reader_main, &sum[i]);
        if (i == 0)
            pthread_create(&e, NULL, editor_main, NULL);
    }
    for (int i = 0; i < NREADERS; i++) {
        pthread_join(r[i], NULL);
        total += sum[i];
    }
    pthread_join(e, NULL);
    printf("%ld values, %ld lookups, %d changes\n", total, lookups, store.generation);
    return total == NREADERS * NROUNDS * 2 ? 0 : 1;
}
