/* Routing table published by pointer; readers enter and leave through
 * per-reader epochs, the updater frees an old table after a quiet period. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define READERS 3
#define UPDATES 25

struct routes {
    unsigned gen;
    unsigned hop[8];
};

static _Atomic(struct routes *) current;
static atomic_ulong epoch = 1;
static atomic_ulong inside[READERS];        /* 0: outside */
static atomic_int stop;

static struct routes *build(unsigned gen)
{
    struct routes *r = malloc(sizeof *r);
    r->gen = gen;
    for (unsigned i = 0; i < 8; i++)
        r->hop[i] = gen * 10 + i;
    return r;
}

static void synchronize(void)
{
    unsigned long e = atomic_fetch_add(&epoch, 1) + 1;
    for (int i = 0; i < READERS; i++)
        for (;;) {
            unsigned long v = atomic_load(&inside[i]);
            if (v == 0 || v >= e)
                break;
            sched_yield();
        }
}

static void *updater(void *arg)
{
    (void)arg;
    for (unsigned g = 1; g <= UPDATES; g++) {
        struct routes *old = atomic_exchange(&current, build(g));
        synchronize();
        old->gen = ~0u;
        free(old);
    }
    atomic_store(&stop, 1);
    return NULL;
}

struct reader { int slot; int bad; unsigned last; };

static void *lookup_loop(void *arg)
{
    struct reader *rd = arg;
    while (!atomic_load(&stop)) {
        atomic_store(&inside[rd->slot], atomic_load(&epoch));
        struct routes *r = atomic_load(&current);
        unsigned g = r->gen;
        for (unsigned i = 0; i < 8; i++)
            if (r->hop[i] != g * 10 + i)
                rd->bad++;
        if (g < rd->last)
            rd->bad++;
        rd->last = g;
        atomic_store_explicit(&inside[rd->slot], 0, memory_order_release);
        sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[READERS], u;
    struct reader rd[READERS];
    int bad = 0;

    atomic_store(&current, build(0));
    for (int i = 0; i < READERS; i++) {
        rd[i] = (struct reader){ i, 0, 0 };
        pthread_create(&t[i], NULL, lookup_loop, &rd[i]);
    }
    pthread_create(&u, NULL, updater, NULL);
    pthread_join(u, NULL);
    for (int i = 0; i < READERS; i++) {
        pthread_join(t[i], NULL);
        bad += rd[i].bad;
    }
    struct routes *r = atomic_load(&current);
    printf("generation %u, bad reads %d\n", r->gen, bad);
    free(r);
    return bad != 0;
}
