/* Hash table of items that a maintenance thread doubles.  The table and the
 * number of its bits are published with atomics, readers take no lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define POWER0   3
#define POWERMAX 5
#define NREADERS 3
#define NITEMS   6
#define NGETS    6

struct item {
    unsigned     hv;
    int          value;
    struct item *next;
};

struct table {
    unsigned      nbuckets;
    struct item **bucket;
};

static _Atomic(struct table *) primary;
static atomic_uint hashpower;
static atomic_long get_hits, get_misses;
static struct item items[NITEMS];
static struct item copies[POWERMAX + 1][NITEMS];
static pthread_mutex_t maintenance_lock = PTHREAD_MUTEX_INITIALIZER;
static int expansions;

static unsigned hash(unsigned key)
{
    return key * 2654435761u;
}

static struct table *table_new(unsigned power)
{
    struct table *t = malloc(sizeof *t);

    if (!t)
        abort();
    t->nbuckets = 1u << power;
    t->bucket = calloc(t->nbuckets, sizeof t->bucket[0]);
    if (!t->bucket)
        abort();
    return t;
}

static void table_fill(struct table *t, unsigned power)
{
    for (int i = 0; i < NITEMS; i++) {
        struct item *it = &copies[power][i];
        unsigned b;

        *it = items[i];
        b = it->hv >> (32 - power);
        it->next = t->bucket[b];
        t->bucket[b] = it;
    }
}

static int assoc_find(unsigned key, int *value)
{
    unsigned power = atomic_load(&hashpower);
    struct table *t = atomic_load(&primary);
    unsigned hv = hash(key), b = hv >> (32 - power);

    assert(b < t->nbuckets);
    for (struct item *it = t->bucket[b]; it; it = it->next)
        if (it->hv == hv) {
            *value = it->value;
            return 1;
        }
    return 0;
}

/* Tables that were replaced are not freed: readers may still be in them. */
static void assoc_expand(void)
{
    unsigned power;
    struct table *t;

    pthread_mutex_lock(&maintenance_lock);
    power = atomic_load(&hashpower) + 1;
    t = table_new(power);
    table_fill(t, power);
    atomic_store(&primary, t);
    atomic_store(&hashpower, power);
    expansions++;
    pthread_mutex_unlock(&maintenance_lock);
}

static void *maintenance_main(void *arg)
{
    (void)arg;
    for (int p = POWER0; p < POWERMAX; p++)
        assoc_expand();
    return NULL;
}

static void *reader_main(void *arg)
{
    int *missing = arg, v;

    for (unsigned i = 0; i < NGETS; i++) {
        if (assoc_find(100 + i % NITEMS, &v)) {
            atomic_fetch_add_explicit(&get_hits, 1, memory_order_relaxed);
        } else {
            atomic_fetch_add_explicit(&get_misses, 1, memory_order_relaxed);
            ++*missing;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t r[NREADERS], m;
    int missing[NREADERS] = { 0 }, bad = 0;
    struct table *t = table_new(POWER0);

    for (int i = 0; i < NITEMS; i++)
        items[i] = (struct item){ hash(100 + (unsigned)i), i, NULL };
    table_fill(t, POWER0);
    atomic_store(&primary, t);
    atomic_store(&hashpower, POWER0);
    for (int i = 0; i < NREADERS; i++) {
        pthread_create(&r[i], NULL, reader_main, &missing[i]);
        if (i == 1)
            pthread_create(&m, NULL, maintenance_main, NULL);
    }
    for (int i = 0; i < NREADERS; i++) {
        pthread_join(r[i], NULL);
        bad += missing[i];
    }
    pthread_join(m, NULL);
    printf("%d expansions, %ld hits, %ld misses\n", expansions, atomic_load(&get_hits),
           atomic_load(&get_misses));
    return bad ? 1 : 0;
}
