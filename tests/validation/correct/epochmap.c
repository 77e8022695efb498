/* Hash map with lock-free readers and epoch-based reclamation.  Writers hold
   a bucket lock, unlink nodes and free them two epochs later. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 4
#define KEYS 24
#define READERS 2
#define WRITERS 2
#define ROUNDS 150

struct node {
    long key, value, check;
    _Atomic(struct node *) next;
    struct node *retired_next;
    unsigned long retired_at;
};

static _Atomic(struct node *) bucket[BUCKETS];
static pthread_mutex_t bucket_lock[BUCKETS];
static atomic_ulong epoch = 2;
static atomic_ulong pin[READERS];       /* epoch << 1 | 1, or 0 */
static atomic_int stop;
static atomic_long allocated, freed, bad;

static void pin_epoch(int r)
{
    atomic_store(&pin[r], atomic_load(&epoch) << 1 | 1);
}

static void unpin_epoch(int r)
{
    atomic_store(&pin[r], 0);
}

static void try_advance(void)
{
    unsigned long now = atomic_load(&epoch);
    int r;

    for (r = 0; r < READERS; r++) {
        unsigned long p = atomic_load(&pin[r]);
        if (p != 0 && p != (now << 1 | 1))
            return;
    }
    atomic_compare_exchange_strong(&epoch, &now, now + 1);
}

static void collect(struct node **bag)
{
    unsigned long now;
    struct node **at = bag, *n;

    try_advance();
    now = atomic_load(&epoch);
    while ((n = *at) != NULL) {
        if (n->retired_at + 2 <= now) {
            *at = n->retired_next;
            n->check = 0;
            n->value = -1;
            free(n);
            atomic_fetch_add(&freed, 1);
        } else {
            at = &n->retired_next;
        }
    }
}

static void retire(struct node *n, struct node **bag)
{
    n->retired_at = atomic_load(&epoch);
    n->retired_next = *bag;
    *bag = n;
}

static void put(long key, long value, struct node **bag)
{
    int b = (int)(key % BUCKETS);
    struct node *n = malloc(sizeof *n), *old;
    _Atomic(struct node *) *at;

    if (!n)
        abort();
    n->key = key;
    n->value = value;
    n->check = key ^ value ^ 0x5a5a;
    n->retired_next = NULL;
    atomic_fetch_add(&allocated, 1);
    pthread_mutex_lock(&bucket_lock[b]);
    for (at = &bucket[b]; (old = atomic_load(at)) != NULL; at = &old->next)
        if (old->key == key)
            break;
    atomic_store(&n->next, old ? atomic_load(&old->next) : NULL);
    atomic_store(at, n);
    pthread_mutex_unlock(&bucket_lock[b]);
    if (old)
        retire(old, bag);
}

static void *writer(void *arg)
{
    long me = (long)arg, i;
    struct node *bag = NULL;

    for (i = 0; i < ROUNDS; i++) {
        put((i * 7 + me * 5) % KEYS, i * 2 + me, &bag);
        if (i % 4 == 3)
            collect(&bag);
    }
    while (bag) {
        collect(&bag);
        if (bag)
            sched_yield();
    }
    return NULL;
}

static void *reader(void *arg)
{
    int me = (int)(long)arg;
    long seen = 0, key = me;

    while (!atomic_load(&stop) || seen == 0) {
        struct node *n;

        pin_epoch(me);
        for (n = atomic_load(&bucket[key % BUCKETS]); n; n = atomic_load(&n->next))
            if (n->check != (n->key ^ n->value ^ 0x5a5a))
                atomic_fetch_add(&bad, 1);
        unpin_epoch(me);
        seen++;
        key = (key + 3) % KEYS;
        if (seen % 16 == 0)
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t w[WRITERS], r[READERS];
    struct node *n, *next;
    long i, left = 0;

    for (i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&bucket_lock[i], NULL);
    for (i = 0; i < READERS; i++)
        pthread_create(&r[i], NULL, reader, (void *)i);
    for (i = 0; i < WRITERS; i++)
        pthread_create(&w[i], NULL, writer, (void *)i);
    for (i = 0; i < WRITERS; i++)
        pthread_join(w[i], NULL);
    atomic_store(&stop, 1);
    for (i = 0; i < READERS; i++)
        pthread_join(r[i], NULL);
    for (i = 0; i < BUCKETS; i++)
        for (n = atomic_load(&bucket[i]); n; n = next) {
            next = atomic_load(&n->next);
            free(n);
            left++;
        }
    printf("bad %ld, allocated %ld, freed %ld, left %ld\n", atomic_load(&bad),
           atomic_load(&allocated), atomic_load(&freed), left);
    return atomic_load(&bad) == 0 && left == KEYS &&
           atomic_load(&allocated) == atomic_load(&freed) + left ? 0 : 1;
}
