/* Worker threads spin with sched_yield on an atomic gate; a singleton is
 * made by double-checked locking with acquire/release. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 3

struct registry {
    int table[64];
    int made_by;
};

static atomic_int gate;
static atomic_int arrived;
static _Atomic(struct registry *) instance;
static pthread_mutex_t make_lock = PTHREAD_MUTEX_INITIALIZER;
static int constructions;

static struct registry *registry_get(int who)
{
    struct registry *r = atomic_load_explicit(&instance, memory_order_acquire);
    if (r == NULL) {
        pthread_mutex_lock(&make_lock);
        r = atomic_load_explicit(&instance, memory_order_relaxed);
        if (r == NULL) {
            r = malloc(sizeof *r);
            for (int i = 0; i < 64; i++)
                r->table[i] = i * i;
            r->made_by = who;
            constructions++;
            atomic_store_explicit(&instance, r, memory_order_release);
        }
        pthread_mutex_unlock(&make_lock);
    }
    return r;
}

static void *worker(void *arg)
{
    long no = (long)arg, s = 0;
    atomic_fetch_add(&arrived, 1);
    while (!atomic_load_explicit(&gate, memory_order_acquire))
        sched_yield();
    struct registry *r = registry_get((int)no);
    for (int i = 0; i < 64; i++)
        s += r->table[i];
    return (void *)s;
}

int main(void)
{
    pthread_t t[WORKERS];
    long total = 0;

    for (long i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    while (atomic_load(&arrived) < WORKERS)
        sched_yield();
    atomic_store_explicit(&gate, 1, memory_order_release);
    for (int i = 0; i < WORKERS; i++) {
        void *v;
        pthread_join(t[i], &v);
        total += (long)v;
    }
    printf("total %ld made %d\n", total, constructions);
    free(atomic_load(&instance));
    return constructions != 1;
}
