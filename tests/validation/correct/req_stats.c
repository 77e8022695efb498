#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define NWORKERS 3
#define NREQS 40
#define NSAMPLES 10

struct stats {
    atomic_ulong requests;
    atomic_ulong bytes;
    atomic_ulong errors;
    atomic_ulong slowest;
};

struct totals {
    pthread_mutex_t lock;
    unsigned long requests;
    unsigned long bytes;
};

struct worker {
    pthread_t tid;
    unsigned seed;
};

static struct stats stats;
static struct totals totals = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void stat_add(atomic_ulong *c, unsigned long n)
{
    atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static unsigned long stat_get(atomic_ulong *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

static void stat_max(atomic_ulong *c, unsigned long n)
{
    unsigned long old = stat_get(c);
    while (old < n) {
        if (atomic_compare_exchange_weak_explicit(c, &old, n,
                memory_order_relaxed, memory_order_relaxed))
            break;
    }
}

static unsigned long handle_request(unsigned *seed)
{
    unsigned long size;
    *seed = *seed * 1103515245u + 12345u;
    size = 100 + ((*seed >> 16) & 0xff);
    stat_add(&stats.requests, 1);
    stat_add(&stats.bytes, size);
    if (size % 17 == 0)
        stat_add(&stats.errors, 1);
    stat_max(&stats.slowest, size);
    return size;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    unsigned long bytes = 0;
    int i;
    for (i = 0; i < NREQS; i++)
        bytes += handle_request(&w->seed);
    pthread_mutex_lock(&totals.lock);
    totals.requests += NREQS;
    totals.bytes += bytes;
    pthread_mutex_unlock(&totals.lock);
    return NULL;
}

static void *monitor_main(void *arg)
{
    unsigned long *samples = arg;
    unsigned long mean;
    unsigned long n;
    int i;
    for (i = 0; i < NSAMPLES; i++) {
        n = stat_get(&stats.requests);
        if (n == 0)
            continue;
        mean = stat_get(&stats.bytes) / n;
        samples[i] = mean;
    }
    return NULL;
}

int main(void)
{
    struct worker w[NWORKERS];
    unsigned long samples[NSAMPLES] = { 0 };
    pthread_t monitor;
    unsigned long max;
    unsigned i;
    for (i = 0; i < NWORKERS; i++) {
        w[i].seed = i * 77 + 1;
        pthread_create(&w[i].tid, NULL, worker_main, &w[i]);
    }
    pthread_create(&monitor, NULL, monitor_main, samples);
    for (i = 0; i < NWORKERS; i++)
        pthread_join(w[i].tid, NULL);
    pthread_join(monitor, NULL);
    max = stat_get(&stats.slowest);
    printf("%lu requests, max %lu\n", totals.requests, max);
    if (totals.requests != stat_get(&stats.requests))
        return 1;
    if (totals.bytes != stat_get(&stats.bytes))
        return 1;
    return max >= 100 && max <= 355 ? 0 : 1;
}
